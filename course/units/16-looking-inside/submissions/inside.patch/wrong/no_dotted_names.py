"""You look the name up with getattr, which does not follow dots; `get_submodule` does."""


def run_patched(module, child, value, *args):
    handle = getattr(module, child).register_forward_hook(lambda *_: value)
    try:
        return module(*args)
    finally:
        handle.remove()
