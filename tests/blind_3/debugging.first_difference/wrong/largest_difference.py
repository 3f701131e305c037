# returns the submodule whose output differs most, not the first one that differs
def recorded_outputs(model, x):
    record = []
    hooks = []
    try:
        for name, m in model.named_modules():
            hooks.append(m.register_forward_hook(lambda mod, i, o, name=name: record.append((name, o.detach().clone()))))
        model(x)
    finally:
        [h.remove() for h in hooks]
    return record


def first_difference(model, reference, x, tolerance=1e-5):
    worst_name, worst = None, tolerance
    for (name, out), (ref_name, ref) in zip(recorded_outputs(model, x), recorded_outputs(reference, x)):
        if name != ref_name or out.shape != ref.shape:
            return name
        diff = torch.where(out == ref, 0.0, (out - ref).abs()).nan_to_num(nan=float("inf")).max().item()
        if diff > worst:
            worst_name, worst = name, diff
    return worst_name
