# the decay is not multiplied by lr + v is not bias-corrected
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad ** 2
    mhat = m / (1 - beta1 ** step)
    theta = param - lr * (mhat / (v.sqrt() + eps)) - weight_decay * param
    return theta, m, v
