import torch


def gradient_flow(model, x):
    parameters = dict(model.named_parameters())
    before = {name: one.grad for name, one in parameters.items()}
    for one in parameters.values():
        one.grad = None
    loss = model(x)
    if loss.requires_grad:
        loss.backward()
    silent, broken = [], []
    for name, one in parameters.items():
        if one.requires_grad:
            if one.grad is None or (one.grad == 0).all():
                silent.append(name)
            elif not torch.isfinite(one.grad).all():
                broken.append(name)
        one.grad = before[name]
    return silent, broken
