"""You catch the error of the module's own call; whoever called you has to see it."""


def run_patched(module, child, value, *args):
    handle = module.get_submodule(child).register_forward_hook(lambda *_: value)
    try:
        return module(*args)
    except Exception:
        return None
    finally:
        handle.remove()
