# the decay is not multiplied by the learning rate
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m2 = m * beta1 + grad * (1 - beta1)
    v2 = v * beta2 + grad.pow(2) * (1 - beta2)
    step_size = lr / (1 - beta1 ** step)
    denom = (v2 / (1 - beta2 ** step)).sqrt().add(eps)
    new_param = param - step_size * m2 / denom
    new_param = new_param - weight_decay * param
    return new_param, m2, v2
