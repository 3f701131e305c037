"""You add the decay to the gradient, so the second moment divides it away: that is Adam with an L2 penalty.

The W in AdamW says that the decay is kept apart from the moments."""


def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    grad = grad + weight_decay * param
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad**2
    m_hat = m / (1 - beta1**step)
    v_hat = v / (1 - beta2**step)
    return param - lr * m_hat / (v_hat.sqrt() + eps), m, v
