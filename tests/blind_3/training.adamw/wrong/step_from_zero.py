# the bias correction uses step + 1, as if step counted from 0
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    t = step + 1
    new_m = m * beta1 + grad * (1 - beta1)
    new_v = v * beta2 + grad.pow(2) * (1 - beta2)
    c1, c2 = 1 - beta1**t, 1 - beta2**t
    step_size = lr / c1
    new_param = param * (1 - lr * weight_decay)
    new_param = new_param - step_size * new_m / ((new_v / c2).sqrt() + eps)
    return new_param, new_m, new_v
