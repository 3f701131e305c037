# style: batches cut into chunks by slicing, gradients summed raw and divided afterwards, the norm by hand
def _measure(model, loss_of, batches):
    losses = []
    with torch.inference_mode():
        for batch in batches:
            losses.append(float(loss_of(model, batch)))
    return sum(losses) / len(losses)


def held_out_loss(model, loss_of, batches):
    model.eval()
    try:
        return _measure(model, loss_of, batches)
    finally:
        model.train(True)


def train_loop(model, loss_of, batches, held_out, optimizer, rate_at, evaluate_every, accumulate=1, max_norm=1.0):
    model.train()
    chunks = [batches[s : s + accumulate] for s in range(0, len(batches), accumulate)]
    history, lowest, best = [], math.inf, None
    for number, chunk in enumerate(chunks, start=1):
        for p in model.parameters():
            p.grad = None
        for batch in chunk:
            loss_of(model, batch).backward()
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        for g in grads:
            g.div_(len(chunk))
        length = math.sqrt(sum(float((g.double() ** 2).sum()) for g in grads))
        if length > max_norm:
            for g in grads:
                g.mul_(max_norm / length)
        lr = rate_at(number)
        for group in optimizer.param_groups:
            group.update(lr=lr)
        optimizer.step()
        if number == len(chunks) or number % evaluate_every == 0:
            now = held_out_loss(model, loss_of, held_out)
            history.append((number, now))
            if best is None or now < lowest:
                lowest = now
                best = {name: t.detach().clone() for name, t in model.state_dict().items()}
    return history, best
