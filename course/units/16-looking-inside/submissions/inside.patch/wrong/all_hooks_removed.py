"""You clear all hooks of the submodule, those of others included; remove the one that you registered."""


def run_patched(module, child, value, *args):
    inner = module.get_submodule(child)
    inner.register_forward_hook(lambda *_: value)
    try:
        return module(*args)
    finally:
        inner._forward_hooks.clear()
