# a context manager around the forward hook; the submodule found with getattr, step by step
from contextlib import contextmanager
from functools import reduce


@contextmanager
def _returns(submodule, value):
    handle = submodule.register_forward_hook(lambda *_: value)
    try:
        yield
    finally:
        handle.remove()


def run_patched(module, child, value, *args):
    with _returns(reduce(getattr, child.split("."), module), value):
        return module(*args)
