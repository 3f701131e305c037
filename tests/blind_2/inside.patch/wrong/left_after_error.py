# the hook is removed only if the run succeeds
def run_patched(module, child, value, *args):
    target = dict(module.named_modules())[child]

    def hook(mod, inputs, output):
        return value

    handle = target.register_forward_hook(hook)
    out = module(*args)
    handle.remove()
    return out
