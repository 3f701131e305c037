def run_patched(module, child, value, *args):
    inner = module
    for name in child.split("."):
        inner = inner[int(name)] if name.isdigit() else inner[name] if hasattr(inner, "keys") else getattr(inner, name)
    handle = inner.register_forward_hook(lambda module, inputs, output: value)
    try:
        result = module(*args)
    finally:
        handle.remove()
    return result
