import torch


def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    weight = torch.nn.Parameter(param.detach().clone())
    weight.grad = grad.detach().clone()
    optimizer = torch.optim.AdamW([weight], lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay)
    done = torch.tensor(float(step - 1))
    optimizer.state[weight] = {"step": done, "exp_avg": m.detach().clone(), "exp_avg_sq": v.detach().clone()}
    optimizer.step()
    state = optimizer.state[weight]
    return weight.detach(), state["exp_avg"], state["exp_avg_sq"]
