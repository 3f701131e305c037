# small gradients (below 1e-3) count as zero + infinite gradients are not reported as broken
def gradient_flow(model, x):
    params = dict(model.named_parameters())
    params = {k: v for k, v in params.items() if v.requires_grad}
    loss = model(x)
    if loss.grad_fn is None:
        return list(params.keys()), []
    grads = torch.autograd.grad(loss, list(params.values()), allow_unused=True)
    silent, broken = [], []
    for name, g in zip(params, grads):
        if g is None or g.abs().max() < 1e-3:
            silent.append(name)
        elif g.isnan().any():
            broken.append(name)
    return silent, broken
