"""You switch the module to evaluation mode and leave it there; its modes belong to whoever gave it to you."""


def run_patched(module, child, value, *args):
    handle = module.get_submodule(child).register_forward_hook(lambda *_: value)
    module.eval()
    try:
        return module(*args)
    finally:
        handle.remove()
