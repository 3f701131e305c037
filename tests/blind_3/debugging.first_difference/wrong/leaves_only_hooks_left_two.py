# only the innermost modules are recorded (no layers, not the model itself) + the hooks are never removed
def recorded_outputs(model, x):
    seen = []
    for name, module in model.named_modules():
        if len(list(module.children())) == 0:
            module.register_forward_hook(
                lambda m, a, out, name=name: seen.append((name, out.detach().clone()))
            )
    model(x)
    return list(seen)


def first_difference(model, reference, x, tolerance=1e-5):
    for (n, o), (rn, ro) in zip(recorded_outputs(model, x), recorded_outputs(reference, x)):
        same = n == rn and o.shape == ro.shape and bool(((o == ro) | ((o - ro).abs() <= tolerance)).all())
        if not same:
            return n
