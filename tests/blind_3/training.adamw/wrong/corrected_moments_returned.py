# returns the bias-corrected moments instead of m' and v'
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m_hat = (beta1 * m + (1 - beta1) * grad) / (1 - beta1 ** step)
    v_hat = (beta2 * v + (1 - beta2) * grad * grad) / (1 - beta2 ** step)
    update = m_hat / (torch.sqrt(v_hat) + eps) + weight_decay * param
    return param - lr * update, m_hat, v_hat
