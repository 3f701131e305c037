import torch


def overfit(loss_of, optimizer, goal, steps):
    loss = loss_of()
    losses = [loss.item()]
    for _ in range(steps):
        if loss <= goal:
            break
        if not torch.isfinite(loss):
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss = loss_of()
        losses.append(loss.item())
    return losses[-1] <= goal, losses
