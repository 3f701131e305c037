# endless loop that looks at the loss first and decides whether a step follows
def overfit(loss_of, optimizer, goal, steps):
    history = []
    while True:
        loss = loss_of()
        value = float(loss.detach())
        history.append(value)
        if value <= goal:
            return True, history
        out_of_steps = len(history) > steps
        if out_of_steps or not math.isfinite(value):
            return False, history
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
