import math


def overfit(loss_of, optimizer, goal, steps):
    losses = []
    while True:
        loss = loss_of()
        losses.append(loss.item())
        if losses[-1] <= goal or len(losses) > steps or not math.isfinite(losses[-1]):
            return losses[-1] <= goal, losses
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
