"""You restore `forward` by assigning it, which leaves an attribute on the object that was not there; delete it, or use a hook."""


def run_patched(module, child, value, *args):
    inner = module.get_submodule(child)
    before = inner.forward
    inner.forward = lambda *_: value
    try:
        return module(*args)
    finally:
        inner.forward = before
