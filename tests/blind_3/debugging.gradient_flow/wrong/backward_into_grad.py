# calls backward and reads .grad: adds to what an earlier step left there, and leaves gradients behind
def gradient_flow(model, x):
    loss = model(x)
    if loss.requires_grad:
        loss.backward()
    silent = []
    broken = []
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        if p.grad is None or (p.grad == 0).all():
            silent.append(name)
        elif not p.grad.isfinite().all():
            broken.append(name)
    return silent, broken
