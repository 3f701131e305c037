# the decay shrinks the parameter after the step, not the one before it
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m = m.mul(beta1).add(grad, alpha=1 - beta1)
    v = v.mul(beta2).addcmul(grad, grad, value=1 - beta2)
    denom = (v / (1 - beta2 ** step)).sqrt().add(eps)
    param = param.addcdiv(m, denom, value=-lr / (1 - beta1 ** step))
    param = param.mul(1 - lr * weight_decay)
    return param, m, v
