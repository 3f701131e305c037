import copy

import torch
from torch import nn


def held_out_loss(model, loss_of, batches):
    frozen = copy.deepcopy(model).eval()
    total = 0.0
    with torch.no_grad():
        for batch in batches:
            total += loss_of(frozen, batch).item()
    return total / len(batches)


def train_loop(model, loss_of, batches, held_out, optimizer, rate_at, evaluate_every, accumulate=1, max_norm=1.0):
    history = []
    best = None
    lowest = float("inf")
    model.train()
    groups = [batches[i : i + accumulate] for i in range(0, len(batches), accumulate)]
    for step, group in enumerate(groups, start=1):
        optimizer.zero_grad()
        for batch in group:
            loss = loss_of(model, batch) / len(group)
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        for settings in optimizer.param_groups:
            settings["lr"] = rate_at(step)
        optimizer.step()
        if step % evaluate_every == 0 or step == len(groups):
            measured = held_out_loss(model, loss_of, held_out)
            history.append((step, measured))
            if measured < lowest:
                lowest = measured
                best = copy.deepcopy(model.state_dict())
    return history, best
