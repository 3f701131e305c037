# n losses for n steps: the loss after the last step is neither recorded nor compared with the goal
def overfit(loss_of, optimizer, goal, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of()
        losses.append(loss.item())
        if loss.item() <= goal:
            return True, losses
        if not math.isfinite(loss.item()):
            return False, losses
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return False, losses
