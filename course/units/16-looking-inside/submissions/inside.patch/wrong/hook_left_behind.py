"""You never remove the hook, so the module stays patched: everything that runs it afterwards is wrong, without a word."""


def run_patched(module, child, value, *args):
    module.get_submodule(child).register_forward_hook(lambda *_: value)
    return module(*args)
