# the hook is never removed + the value is detached, so no gradient reaches it
def run_patched(module, child, value, *args):
    part = module
    for piece in child.split("."):
        part = getattr(part, piece)
    frozen = value.detach().clone()
    part.register_forward_hook(lambda m, i, o: frozen)
    return module(*args)
