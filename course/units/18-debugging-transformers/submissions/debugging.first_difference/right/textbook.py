def recorded_outputs(model, x):
    outputs = []
    hooks = []
    for name, part in model.named_modules():
        hook = lambda *call, name=name: outputs.append((name, call[-1].clone()))
        hooks.append(part.register_forward_hook(hook))
    try:
        model(x)
    finally:
        for hook in hooks:
            hook.remove()
    return outputs


def first_difference(model, reference, x, tolerance=1e-5):
    pairs = zip(recorded_outputs(model, x), recorded_outputs(reference, x))
    for (name, mine), (other, right) in pairs:
        if name != other:
            return name
        if mine.shape != right.shape:
            return name
        close = (mine == right) | ((mine - right).abs() <= tolerance)
        if not close.all():
            return name
    return None
