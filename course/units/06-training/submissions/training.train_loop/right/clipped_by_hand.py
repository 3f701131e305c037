import torch


def held_out_loss(model, loss_of, batches):
    model.train(False)
    with torch.inference_mode():
        losses = [float(loss_of(model, batch)) for batch in batches]
    model.train(True)
    return sum(losses) / len(losses)


def train_loop(model, loss_of, batches, held_out, optimizer, rate_at, evaluate_every, accumulate=1, max_norm=1.0):
    model.train()
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    history, snapshots, step = [], [], 0
    while step * accumulate < len(batches):
        group = batches[step * accumulate : (step + 1) * accumulate]
        step += 1
        for settings in optimizer.param_groups:
            settings["lr"] = rate_at(step)
        model.zero_grad()
        (sum(loss_of(model, batch) for batch in group) / len(group)).backward()
        norm = torch.stack([parameter.grad.norm() for parameter in parameters]).norm()
        if norm > max_norm:
            for parameter in parameters:
                parameter.grad.mul_(max_norm / norm)
        optimizer.step()
        if step % evaluate_every == 0 or step * accumulate >= len(batches):
            history.append((step, held_out_loss(model, loss_of, held_out)))
            snapshots.append({name: value.detach().clone() for name, value in model.state_dict().items()})
    losses = [loss for _, loss in history]
    return history, snapshots[losses.index(min(losses))]
