def run_patched(module, child, value, *args):
    with module.get_submodule(child).register_forward_hook(lambda *_: value):
        return module(*args)
