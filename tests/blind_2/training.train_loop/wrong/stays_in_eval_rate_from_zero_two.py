# held_out_loss leaves the model in eval mode + rate_at gets the step counted from 0
def held_out_loss(model, loss_of, batches):
    model.eval()
    with torch.no_grad():
        return sum([loss_of(model, x).item() for x in batches]) / len(batches)


def train_loop(model, loss_of, batches, held_out, optimizer, rate_at, evaluate_every, accumulate=1, max_norm=1.0):
    model.train()
    history, best, low = [], None, 1e9
    groups = [batches[i:i + accumulate] for i in range(0, len(batches), accumulate)]
    for k, g in enumerate(groups):
        for pg in optimizer.param_groups:
            pg["lr"] = rate_at(k)
        optimizer.zero_grad()
        mean = sum(loss_of(model, b) for b in g) / len(g)
        mean.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        if (k + 1) % evaluate_every == 0 or k + 1 == len(groups):
            l = held_out_loss(model, loss_of, held_out)
            history.append((k + 1, l))
            if l < low:
                low = l
                best = {n: p.clone() for n, p in model.state_dict().items()}
    return history, best
