"""You patch the module itself, so its result is the value; patch the submodule whose name is `child`."""


def run_patched(module, child, value, *args):
    handle = module.register_forward_hook(lambda *_: value)
    try:
        return module(*args)
    finally:
        handle.remove()
