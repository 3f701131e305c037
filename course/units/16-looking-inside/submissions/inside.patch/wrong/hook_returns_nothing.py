"""Your hook returns nothing, so the submodule's own output stays; what a forward hook returns takes its place."""


def run_patched(module, child, value, *args):
    def replace(_module, _inputs, output):
        output = value

    handle = module.get_submodule(child).register_forward_hook(replace)
    try:
        return module(*args)
    finally:
        handle.remove()
