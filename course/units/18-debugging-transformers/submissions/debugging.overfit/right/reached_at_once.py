def overfit(loss_of, optimizer, goal, steps):
    losses = []
    for step in range(steps + 1):
        loss = loss_of()
        losses.append(float(loss.detach()))
        if losses[-1] <= goal:
            return True, losses
        if step == steps or losses[-1] == float("inf") or losses[-1] != losses[-1]:
            return False, losses
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
