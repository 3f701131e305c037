"""You run the module under no_grad, so nothing can be learned about what the result depends on."""

import torch


def run_patched(module, child, value, *args):
    handle = module.get_submodule(child).register_forward_hook(lambda *_: value)
    try:
        with torch.no_grad():
            return module(*args)
    finally:
        handle.remove()
