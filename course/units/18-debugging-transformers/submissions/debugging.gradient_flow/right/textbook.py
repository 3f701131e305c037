import torch


def gradient_flow(model, x):
    learning = {name: one for name, one in model.named_parameters() if one.requires_grad}
    loss = model(x)
    if not loss.requires_grad:
        return list(learning), []
    gradients = torch.autograd.grad(loss, list(learning.values()), allow_unused=True)
    silent, broken = [], []
    for name, gradient in zip(learning, gradients):
        if gradient is None or not gradient.any():
            silent.append(name)
        elif not gradient.isfinite().all():
            broken.append(name)
    return silent, broken
