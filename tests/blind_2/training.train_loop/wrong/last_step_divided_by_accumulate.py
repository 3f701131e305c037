# the last step is divided by `accumulate` although it may have fewer batches
def held_out_loss(model, loss_of, batches):
    model.eval()
    s = 0.0
    with torch.no_grad():
        for batch in batches:
            s += loss_of(model, batch).item()
    model.train()
    return s / len(batches)


def train_loop(model, loss_of, batches, held_out, optimizer, rate_at, evaluate_every, accumulate=1, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    history, best = [], (float("inf"), {})
    step = 0
    for i, batch in enumerate(batches):
        loss = loss_of(model, batch) / accumulate
        loss.backward()
        last = i + 1 == len(batches)
        if (i + 1) % accumulate == 0 or last:
            step += 1
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            for g in optimizer.param_groups:
                g["lr"] = rate_at(step)
            optimizer.step()
            optimizer.zero_grad()
            if step % evaluate_every == 0 or last:
                val = held_out_loss(model, loss_of, held_out)
                history.append((step, val))
                if val < best[0]:
                    best = (val, {k: v.clone() for k, v in model.state_dict().items()})
    return history, best[1]
