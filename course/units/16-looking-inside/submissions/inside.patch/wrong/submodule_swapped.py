"""You put another module in the submodule's place, so whatever else reads its parameters no longer finds them."""

from torch import nn


class Constant(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, *args):
        return self.value


def run_patched(module, child, value, *args):
    path, _, name = child.rpartition(".")
    parent = module.get_submodule(path)
    before = parent._modules[name]
    parent._modules[name] = Constant(value)
    try:
        return module(*args)
    finally:
        parent._modules[name] = before
