def run_patched(module, child, value, *args):
    handle = module.get_submodule(child).register_forward_hook(lambda *_: value)
    try:
        return module(*args)
    finally:
        handle.remove()
