# best is model.state_dict() itself, not a copy: it follows the model to the last step
def held_out_loss(model, loss_of, batches):
    model.eval()
    with torch.no_grad():
        total = sum(loss_of(model, b).item() for b in batches)
    model.train()
    return total / len(batches)


def train_loop(model, loss_of, batches, held_out, optimizer, rate_at, evaluate_every, accumulate=1, max_norm=1.0):
    model.train()
    n_steps = math.ceil(len(batches) / accumulate)
    history, best, best_loss = [], None, float("inf")
    for step in range(1, n_steps + 1):
        group = batches[(step - 1) * accumulate : step * accumulate]
        optimizer.zero_grad()
        for batch in group:
            (loss_of(model, batch) / len(group)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        for pg in optimizer.param_groups:
            pg["lr"] = rate_at(step)
        optimizer.step()
        if step % evaluate_every == 0 or step == n_steps:
            loss = held_out_loss(model, loss_of, held_out)
            history.append((step, loss))
            if loss < best_loss:
                best_loss, best = loss, model.state_dict()
    return history, best
