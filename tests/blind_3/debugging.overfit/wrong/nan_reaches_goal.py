# a loss that is NaN ends the loop and counts as reached, since "not nan > goal" is True
def overfit(loss_of, optimizer, goal, steps):
    def step_once(l):
        optimizer.zero_grad()
        l.backward()
        optimizer.step()

    loss = loss_of()
    losses = [loss.item()]
    for _ in range(steps):
        if not (losses[-1] > goal) or math.isinf(losses[-1]):
            break
        step_once(loss)
        loss = loss_of()
        losses.append(loss.item())
    reached = not (losses[-1] > goal)
    return reached, losses
