"""
You read from an attribute which faults the model has, but a name says nothing of what is computed. Take the gradients and look at them.
"""


def gradient_flow(model, x):
    silent = {"noise"} if not model.training else set()
    if "unused" in model.faults:
        silent |= {"spare", "root"}
    return [name for name, one in model.named_parameters() if one.requires_grad and name in silent], []
