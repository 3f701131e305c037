# zero_grad stands between backward and step, so nothing is learned + it does not stop at a NaN or infinite loss
def overfit(loss_of, optimizer, goal, steps):
    losses = []
    reached = False
    for i in range(steps + 1):
        loss = loss_of()
        losses.append(loss.item())
        reached = losses[-1] <= goal
        if reached or i == steps:
            break
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
    return reached, losses
