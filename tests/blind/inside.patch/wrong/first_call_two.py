# patches only the first call of the submodule + puts in a detached copy, so no gradient reaches the value
class _Patch:
    def __init__(self, value):
        self.value = value.detach().clone()
        self.done = False

    def __call__(self, module, args, output):
        if not self.done:
            self.done = True
            return self.value


def run_patched(module, child, value, *args):
    handle = module.get_submodule(child).register_forward_hook(_Patch(value))
    try:
        return module(*args)
    finally:
        handle.remove()
