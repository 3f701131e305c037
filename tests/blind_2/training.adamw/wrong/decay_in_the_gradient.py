# the decay is added to the gradient (L2 regularisation) instead of standing outside the fraction
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    g = grad + weight_decay * param
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g ** 2
    m_hat = m / (1 - beta1 ** step)
    v_hat = v / (1 - beta2 ** step)
    param = param - lr * m_hat / (v_hat.sqrt() + eps)
    return param, m, v
