# removes the hook only when the run succeeds
def run_patched(module, child, value, *args):
    def hook(mod, inputs, output):
        return value

    handle = module.get_submodule(child).register_forward_hook(hook)
    result = module(*args)
    handle.remove()
    return result
