# lerp and addcmul; both bias corrections are moved into the step size and epsilon
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m_new = torch.lerp(m, grad, 1 - beta1)
    v_new = torch.addcmul(beta2 * v, grad, grad, value=1 - beta2)
    c1 = 1 - beta1 ** step
    root_c2 = math.sqrt(1 - beta2 ** step)
    update = m_new / (v_new.sqrt() + eps * root_c2) * (root_c2 / c1)
    shrunk = param * (1 - lr * weight_decay)
    return shrunk - lr * update, m_new, v_new
