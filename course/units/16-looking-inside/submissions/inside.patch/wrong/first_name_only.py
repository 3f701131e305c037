"""You take only the first part of a dotted name; "middle.inner" is the submodule `inner` of the submodule `middle`."""


def run_patched(module, child, value, *args):
    inner = getattr(module, child.split(".")[0])
    handle = inner.register_forward_hook(lambda *_: value)
    try:
        return module(*args)
    finally:
        handle.remove()
