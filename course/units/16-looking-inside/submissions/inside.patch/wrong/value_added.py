"""You add the value to what the submodule returns; a patch takes its place. Adding a direction would be steering."""


def run_patched(module, child, value, *args):
    handle = module.get_submodule(child).register_forward_hook(lambda _module, _inputs, output: output + value)
    try:
        return module(*args)
    finally:
        handle.remove()
