import torch


def recorded_outputs(model, x):
    outputs = []
    names = {part: name for name, part in model.named_modules()}

    def hook(module, inputs, output):
        outputs.append((names[module], torch.clone(output)))

    handles = [part.register_forward_hook(hook) for part in names]
    try:
        model(x)
    finally:
        [handle.remove() for handle in handles]
    return outputs


def first_difference(model, reference, x, tolerance=1e-5):
    mine = recorded_outputs(model, x)
    right = recorded_outputs(reference, x)
    for index in range(len(mine)):
        one, other = mine[index][1], right[index][1]
        if mine[index][0] != right[index][0]:
            return mine[index][0]
        if one.size() != other.size() or not torch.allclose(one, other, rtol=0, atol=tolerance):
            return mine[index][0]
