def run_patched(module, child, value, *args):
    inner = module.get_submodule(child)
    inner.forward = lambda *_args, **_kwargs: value  # on the object; its class keeps its own
    try:
        return module(*args)
    finally:
        del inner.forward
