# style: a generator context manager around the call that registers and always removes the hook
def run_patched(module, child, value, *args):
    from contextlib import contextmanager

    @contextmanager
    def patched(part):
        handle = part.register_forward_hook(lambda *_: value)
        try:
            yield
        finally:
            handle.remove()

    with patched(module.get_submodule(child)):
        return module(*args)
