import math

import torch


def gradient_flow(model, x):
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    parameters = [model.get_parameter(name) for name in names]
    loss = model(x)
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True) if loss.requires_grad else [None] * len(names)
    sizes = [0.0 if gradient is None else gradient.abs().sum().item() for gradient in gradients]
    silent = [name for name, size in zip(names, sizes) if size == 0]
    broken = [name for name, size in zip(names, sizes) if not math.isfinite(size)]
    return silent, broken
