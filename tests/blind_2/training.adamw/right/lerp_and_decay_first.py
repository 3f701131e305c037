# style: lerp for the moments, decay as a factor on the parameter first, addcdiv for the step
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m = torch.lerp(m, grad, 1 - beta1)
    v = torch.lerp(v, grad * grad, 1 - beta2)
    correct1 = 1 - beta1 ** step
    correct2 = 1 - beta2 ** step
    denom = v.sqrt() / correct2 ** 0.5 + eps
    shrunk = param * (1 - lr * weight_decay)
    return torch.addcdiv(shrunk, m, denom, value=-lr / correct1), m, v
