# the decay is not multiplied by the learning rate + corrects v with beta1
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m_next = beta1 * m + (1 - beta1) * grad
    v_next = beta2 * v + (1 - beta2) * grad * grad
    correction = 1 - beta1 ** step
    mhat, vhat = m_next / correction, v_next / correction
    new = param - lr * mhat / (vhat ** 0.5 + eps)
    new = new - weight_decay * param
    return new, m_next, v_next
