# never calls zero_grad: the gradients of all steps add up
def overfit(loss_of, optimizer, goal, steps):
    losses = [loss_of()]
    n = 0
    while n < steps and torch.isfinite(losses[-1]) and losses[-1] > goal:
        losses[-1].backward()
        optimizer.step()
        losses.append(loss_of())
        n += 1
    losses = [l.item() for l in losses]
    return losses[-1] <= goal, losses
