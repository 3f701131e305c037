"""You add the whole gradient to what is left of the old moments, so they grow to many times a mean.

The two shares of a mean add up to one."""


def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m = beta1 * m + grad
    v = beta2 * v + grad**2
    m_hat = m / (1 - beta1**step)
    v_hat = v / (1 - beta2**step)
    return param - lr * (m_hat / (v_hat.sqrt() + eps) + weight_decay * param), m, v
