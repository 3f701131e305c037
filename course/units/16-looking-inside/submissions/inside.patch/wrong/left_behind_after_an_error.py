"""You remove the hook only when the call succeeds. After an error the module stays patched; `finally` runs in both cases."""


def run_patched(module, child, value, *args):
    handle = module.get_submodule(child).register_forward_hook(lambda *_: value)
    result = module(*args)
    handle.remove()
    return result
