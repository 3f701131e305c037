"""Finding the fault in a model: which inputs reach which outputs, which parameters get a gradient, where two models
part, and whether one batch can be learned by heart."""

import math
from contextlib import ExitStack

import torch


def information_flow(f, x):
    """Which positions of the input reach which positions of the output.

    x [L,E]; f: [L,E] -> [M,F], differentiable and without random numbers -> bool [M,L], True at [i,j] where some column
    of row i of f(x) depends on some column of row j of x. Gradients of f's own parameters stay as they are.
    """
    jacobian = torch.autograd.functional.jacobian(f, x)  # [M,F,L,E]: each entry of f(x) by each entry of x
    return (jacobian != 0).any(-1).any(1)


def gradient_flow(model, x):
    """The parameters that cannot learn from the loss `model(x)`.

    model(x) -> a scalar -> a tuple (silent, broken) of two lists of names, in the order of `model.named_parameters()`.
    silent: no gradient, or zeros alone; broken: a gradient with an entry that is NaN or infinite. A frozen parameter
    (`requires_grad=False`) is in neither. If the loss does not require grad, every other parameter is silent.
    Gradients are dense. Whatever is in `.grad` is not read, and stays as it is.
    """
    learning = {name: one for name, one in model.named_parameters() if one.requires_grad}
    loss = model(x)
    if not loss.requires_grad:
        return [*learning], []
    found = dict(zip(learning, torch.autograd.grad(loss, [*learning.values()], allow_unused=True), strict=True))
    silent = [name for name, one in found.items() if one is None or not one.any()]
    broken = [name for name, one in found.items() if one is not None and not one.isfinite().all()]
    return silent, broken


def recorded_outputs(model, x):
    """What every submodule returns while `model(x)` runs: a list of tuples (name, output), in the order in which they
    return, with a tuple for each call. The last is the model itself, whose name is "".

    Each submodule returns one tensor of numbers. An output is a copy of what was returned, so that what changes it
    later does not change the record. No hook is left behind, after an error either.
    """
    outputs = []
    with ExitStack() as hooks:
        for name, part in model.named_modules():
            hook = lambda *call, name=name: outputs.append((name, call[-1].clone()))
            hooks.enter_context(part.register_forward_hook(hook))
        model(x)
    return outputs


def first_difference(model, reference, x, tolerance=1e-5):
    """The name of the first submodule that returns something else in `model(x)` than in `reference(x)`, or None.

    Each submodule returns one tensor of numbers. Two outputs agree if they come from submodules of one name, have one
    shape, and no entry of the one is further than `tolerance`, an absolute difference, from that of the other. Equal
    infinities agree; NaN agrees with nothing. Both models stay as they are.
    """
    is_close = lambda mine, right: (mine == right) | ((mine - right).abs() <= tolerance)
    for (name, mine), (other, right) in zip(recorded_outputs(model, x), recorded_outputs(reference, x), strict=True):
        if name != other or mine.shape != right.shape or not is_close(mine, right).all():
            return name
    return None


def overfit(loss_of, optimizer, goal, steps):
    """Train on one batch until its loss is at most `goal`: a model that cannot do that has a fault.

    loss_of() -> the loss on that batch, a scalar -> a tuple (reached, losses): whether the goal was reached, and a list
    of the losses before each of the steps and after the last. It ends at the goal, after `steps` steps, or at a loss
    that is NaN or infinite. NaN does not reach the goal.
    """
    losses = []
    while True:
        loss = loss_of()
        losses.append(loss.item())
        if losses[-1] <= goal or len(losses) > steps or not math.isfinite(losses[-1]):
            return losses[-1] <= goal, losses
        optimizer.zero_grad(), loss.backward(), optimizer.step()
