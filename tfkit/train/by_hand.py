"""A training loop by hand. Real runs use `tfkit.train.fit`: many processes, checkpoints on disk, restarts."""

from __future__ import annotations

import math

import torch
from torch import nn


def held_out_loss(model, loss_of, batches):
    """The mean of `loss_of(model, batch)` over the batches, measured in eval mode and without gradients.

    The model comes in train mode, and is in train mode afterwards. -> Python float
    """
    model.eval()
    with torch.no_grad():
        total = sum(loss_of(model, batch).item() for batch in batches)
    model.train()
    return total / len(batches)


def train_loop(model, loss_of, batches, held_out, optimizer, rate_at, evaluate_every, accumulate=1, max_norm=1.0):
    """Train `model` on each of the batches once, in their order; `accumulate` of them make a step.

    model: may come in eval mode; it is trained in train mode
    loss_of: (model, batch) -> scalar, the mean loss of that batch
    batches, held_out: lists of batches of one size
    rate_at: (step, from 1) -> the learning rate of that step, for all groups of parameters
    The last step may have fewer batches. Its gradient is the mean over those that it has, as every step's is, and its
    norm, over all parameters together, is clipped to at most `max_norm`.
    The held-out loss is measured after every `evaluate_every` steps and after the last one.
    The model keeps the weights of the last step, and is in train mode.

    -> history, a list of (step, held-out loss), and best, a copy of the model's state_dict where that loss was lowest
    """
    history, best, lowest = [], None, math.inf
    model.train()
    steps = math.ceil(len(batches) / accumulate)
    for step in range(1, steps + 1):
        group = batches[(step - 1) * accumulate : step * accumulate]
        optimizer.zero_grad()
        for batch in group:
            loss = loss_of(model, batch) / len(group)
            loss.backward()  # adds to the gradients that are there
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        for settings in optimizer.param_groups:
            settings["lr"] = rate_at(step)
        optimizer.step()
        if step % evaluate_every == 0 or step == steps:
            loss = held_out_loss(model, loss_of, held_out)
            history.append((step, loss))
            if loss < lowest:
                lowest = loss
                best = {name: value.clone() for name, value in model.state_dict().items()}
    return history, best
