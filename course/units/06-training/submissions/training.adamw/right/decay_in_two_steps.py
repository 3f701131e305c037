import torch


def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    first = torch.add(m * beta1, grad * (1.0 - beta1))
    second = torch.add(v * beta2, torch.square(grad) * (1.0 - beta2))
    ratio = (first / (1.0 - beta1**step)) / (torch.sqrt(second / (1.0 - beta2**step)) + eps)
    after_decay = param - lr * weight_decay * param
    return after_decay - lr * ratio, first, second
