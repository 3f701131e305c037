# runs a copy of the module, so what it counts or records is lost
import copy


def run_patched(module, child, value, *args):
    clone = copy.deepcopy(module)
    clone.get_submodule(child).register_forward_hook(lambda m, i, o: value)
    return clone(*args)
