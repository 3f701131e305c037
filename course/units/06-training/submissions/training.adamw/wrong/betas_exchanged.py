"""You have exchanged the two betas: the first belongs to the mean of the gradient."""


def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m = beta2 * m + (1 - beta2) * grad
    v = beta1 * v + (1 - beta1) * grad**2
    m_hat = m / (1 - beta2**step)
    v_hat = v / (1 - beta1**step)
    return param - lr * (m_hat / (v_hat.sqrt() + eps) + weight_decay * param), m, v
