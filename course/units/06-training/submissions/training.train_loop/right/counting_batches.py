import copy

import torch


@torch.no_grad()
def held_out_loss(model, loss_of, batches):
    model.eval()
    losses = torch.stack([loss_of(model, batch) for batch in batches])
    model.train()
    return losses.mean().item()


def train_loop(model, loss_of, batches, held_out, optimizer, rate_at, evaluate_every, accumulate=1, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    history, best, step, waiting = [], None, 0, 0
    for number, batch in enumerate(batches, 1):
        loss_of(model, batch).backward()
        waiting += 1
        last = number == len(batches)
        if waiting < accumulate and not last:
            continue
        step += 1
        for parameter in model.parameters():
            parameter.grad /= waiting
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step)
        optimizer.step()
        optimizer.zero_grad()
        waiting = 0
        if step % evaluate_every == 0 or last:
            loss = held_out_loss(model, loss_of, held_out)
            if best is None or loss < min(past for _, past in history):
                best = copy.deepcopy(model.state_dict())
            history.append((step, loss))
    return history, best
