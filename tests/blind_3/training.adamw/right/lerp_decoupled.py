# decay first, then lerp / addcmul / addcdiv on fresh tensors
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    new_m = torch.lerp(m, grad, 1 - beta1)
    new_v = torch.addcmul(beta2 * v, grad, grad, value=1 - beta2)
    shrink = 1 - lr * weight_decay
    denom = torch.sqrt(new_v / (1 - beta2**step)).add(eps)
    return torch.addcdiv(param * shrink, new_m, denom, value=-lr / (1 - beta1**step)), new_m, new_v
