def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m_new = beta1 * m + (1 - beta1) * grad
    v_new = beta2 * v + (1 - beta2) * grad**2
    m_hat = m_new / (1 - beta1**step)
    v_hat = v_new / (1 - beta2**step)
    update = m_hat / (v_hat**0.5 + eps) + weight_decay * param
    return param - lr * update, m_new, v_new
