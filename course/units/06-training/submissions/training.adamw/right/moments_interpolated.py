import torch


def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m, v = grad.lerp(m, beta1), grad.pow(2).lerp(v, beta2)  # off by 5e-8 of the square: float32 rounds 1 - 0.999
    mean, square = m / (1 - beta1**step), v / (1 - beta2**step)
    step_taken = mean / (torch.sqrt(square) + eps)
    return (1 - lr * weight_decay) * param - lr * step_taken, m, v
