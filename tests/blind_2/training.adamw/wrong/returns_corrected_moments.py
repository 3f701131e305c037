# hands on the moments WITH the bias correction
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    def running(old, new, beta):
        return (beta * old + (1 - beta) * new) / (1 - beta ** step)

    m = running(m, grad, beta1)
    v = running(v, grad.square(), beta2)
    update = m / (torch.sqrt(v) + eps) + weight_decay * param
    return param - lr * update, m, v
