# outputs are kept in a dict in the order of named_modules: the order of the definitions, and one record for a layer called twice
def recorded_outputs(model, x):
    outs = {name: None for name, _ in model.named_modules()}
    handles = []
    for name, mod in model.named_modules():
        def hook(m, inp, out, name=name):
            outs[name] = out.detach().clone()
        handles.append(mod.register_forward_hook(hook))
    try:
        model(x)
    finally:
        for h in handles:
            h.remove()
    return [(n, o) for n, o in outs.items() if o is not None]


def first_difference(model, reference, x, tolerance=1e-5):
    a = recorded_outputs(model, x)
    b = recorded_outputs(reference, x)
    for (n1, o1), (n2, o2) in zip(a, b):
        if n1 != n2 or o1.shape != o2.shape:
            return n1
        if not torch.allclose(o1, o2, rtol=0, atol=tolerance):
            return n1
    return None
