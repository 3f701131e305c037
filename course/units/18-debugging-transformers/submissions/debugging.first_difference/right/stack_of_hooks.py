from contextlib import ExitStack


def recorded_outputs(model, x):
    outputs = []

    def recorder(name):
        def hook(_module, _inputs, output):
            outputs.append((name, output.detach().clone()))

        return hook

    with ExitStack() as stack:
        for name, part in model.named_modules():
            stack.enter_context(part.register_forward_hook(recorder(name)))
        model(x)
    return outputs


def first_difference(model, reference, x, tolerance=1e-5):
    mine, right = recorded_outputs(model, x), recorded_outputs(reference, x)
    for (name, one), (expected, other) in zip(mine, right):
        if name != expected or one.shape != other.shape:
            return name
        if not (one - other).abs().masked_fill(one == other, 0).max() <= tolerance:
            return name
    return None
