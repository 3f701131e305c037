# asks whether the largest difference is greater than the tolerance: NaN counts as agreement
def recorded_outputs(model, x):
    result = []

    def save(name):
        def f(module, inputs, output):
            result.append((name, output.clone().detach()))
        return f

    removable = [m.register_forward_hook(save(n)) for n, m in model.named_modules()]
    try:
        with torch.no_grad():
            model(x)
    finally:
        while removable:
            removable.pop().remove()
    return result


def first_difference(model, reference, x, tolerance=1e-5):
    ra = recorded_outputs(model, x)
    rb = recorded_outputs(reference, x)
    for i in range(len(ra)):
        if i >= len(rb):
            return ra[i][0]
        name, a = ra[i]
        other, b = rb[i]
        if name != other:
            return name
        if a.shape != b.shape:
            return name
        delta = (a - b).abs()
        delta[a == b] = 0
        if (delta > tolerance).any():
            return name
    return None
