"""You detach the value, so no gradient reaches it; attribution by patching needs that gradient."""


def run_patched(module, child, value, *args):
    handle = module.get_submodule(child).register_forward_hook(lambda *_: value.detach())
    try:
        return module(*args)
    finally:
        handle.remove()
