"""You pass on the first argument only; the module gets all of `args`."""


def run_patched(module, child, value, *args):
    handle = module.get_submodule(child).register_forward_hook(lambda *_: value)
    try:
        return module(args[0])
    finally:
        handle.remove()
