# a parameter is called silent as soon as any entry of its gradient is zero
def gradient_flow(model, x):
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    loss = model(x)
    if not loss.requires_grad or not named:
        return [n for n, _ in named], []
    grads = torch.autograd.grad(loss, [p for _, p in named], allow_unused=True)
    silent = [n for (n, _), g in zip(named, grads) if g is None or (g == 0).any()]
    broken = [n for (n, _), g in zip(named, grads) if g is not None and not torch.isfinite(g).all()]
    return silent, broken
