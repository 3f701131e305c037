# each parameter's gradient is clipped by its own norm instead of all together by the global norm
import copy


@torch.no_grad()
def held_out_loss(model, loss_of, batches):
    model.eval()
    values = torch.stack([loss_of(model, batch) for batch in batches])
    model.train()
    return values.mean().item()


def train_loop(model, loss_of, batches, held_out, optimizer, rate_at, evaluate_every, accumulate=1, max_norm=1.0):
    model.train()
    history = []
    best = None
    step = 0
    i = 0
    while i < len(batches):
        part = batches[i : i + accumulate]
        i += accumulate
        step += 1
        optimizer.zero_grad()
        for b in part:
            loss = loss_of(model, b) / len(part)
            loss.backward()
        for p in model.parameters():
            if p.grad is not None:
                norm = p.grad.norm()
                if norm > max_norm:
                    p.grad *= max_norm / norm
        for g in optimizer.param_groups:
            g["lr"] = rate_at(step)
        optimizer.step()
        if step % evaluate_every == 0 or i >= len(batches):
            h = held_out_loss(model, loss_of, held_out)
            if best is None or h < min(x for _, x in history):
                best = copy.deepcopy(model.state_dict())
            history.append((step, h))
    return history, best
