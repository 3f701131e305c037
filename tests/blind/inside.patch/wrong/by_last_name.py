# patches every submodule whose last name is the same, not only the one with the whole name
def run_patched(module, child, value, *args):
    handles = []
    short = child.split(".")[-1]
    try:
        for name, sub in module.named_modules():
            if name.split(".")[-1] == short:
                handles.append(sub.register_forward_hook(lambda m, inp, out: value))
        return module(*args)
    finally:
        for h in handles:
            h.remove()
