# frozen parameters are reported as silent
def gradient_flow(model, x):
    loss = model(x)
    silent, broken = [], []
    for name, param in model.named_parameters():
        grad = None
        if param.requires_grad and loss.requires_grad:
            (grad,) = torch.autograd.grad(loss, param, retain_graph=True, allow_unused=True)
        if grad is None:
            silent.append(name)
            continue
        if torch.isnan(grad).any() or torch.isinf(grad).any():
            broken.append(name)
        elif not grad.any():
            silent.append(name)
    return silent, broken
