# puts .grad aside, runs backward for the parameters only, reads, and puts the old .grad back
def gradient_flow(model, x):
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = model(x)
    silent, broken = [], []
    if not loss.requires_grad:
        return list(trainable), []
    if not trainable:
        return silent, broken

    saved = {name: p.grad for name, p in trainable.items()}
    try:
        for p in trainable.values():
            p.grad = None
        loss.backward(inputs=list(trainable.values()))
        for name, p in trainable.items():
            g = p.grad
            if g is None or torch.count_nonzero(g) == 0:
                silent.append(name)
            elif not torch.isfinite(g).all():
                broken.append(name)
    finally:
        for name, p in trainable.items():
            p.grad = saved[name]
    return silent, broken
