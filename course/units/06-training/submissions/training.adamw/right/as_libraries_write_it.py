import math


def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m = m.lerp(grad, 1 - beta1)
    v = v.mul(beta2).addcmul(grad, grad, value=1 - beta2)
    denominator = (v.sqrt() / math.sqrt(1 - beta2**step)).add_(eps)
    decayed = param * (1 - lr * weight_decay)
    return decayed.addcdiv(m, denominator, value=-lr / (1 - beta1**step)), m, v
