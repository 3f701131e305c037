def run_patched(module, child, value, *args):
    part = module.get_submodule(child)
    part.forward = lambda *_: value  # the part's own layers do not run
    try:
        return module(*args)
    finally:
        del part.forward
