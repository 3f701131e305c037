# v is not corrected for its start at zero + the numerator is the gradient itself instead of the mean of the gradients
def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    new_m = beta1 * m + (1 - beta1) * grad
    new_v = beta2 * v + (1 - beta2) * grad * grad
    theta = param - lr * (grad / (torch.sqrt(new_v) + eps) + weight_decay * param)
    return theta, new_m, new_v
