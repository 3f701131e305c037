# v averages the square of the new m instead of the square of the gradient
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    def running(old, new, beta):
        return old * beta + new * (1 - beta)

    m = running(m, grad, beta1)
    v = running(v, m.pow(2), beta2)
    fraction = (m / (1 - beta1 ** step)) / ((v / (1 - beta2 ** step)).sqrt() + eps)
    return param - lr * fraction - lr * weight_decay * param, m, v
