def run_patched(module, child, value, *args):
    def replace(_module, _inputs, _output):
        return value

    hook = module.get_submodule(child).register_forward_hook(replace)
    try:
        return module(*args)
    finally:
        hook.remove()
