# patches every submodule whose name ends with the given one, not only that with the whole name
def run_patched(module, child, value, *args):
    handles = []
    for name, sub in module.named_modules():
        if name.endswith(child):
            handles.append(sub.register_forward_hook(lambda m, inp, out: value))
    try:
        result = module(*args)
    finally:
        for h in handles:
            h.remove()
    return result
