# runs a deep copy instead of the module itself
import copy


def run_patched(module, child, value, *args):
    clone = copy.deepcopy(module)
    target = dict(clone.named_modules())[child]
    target.register_forward_hook(lambda m, i, o: value)
    return clone(*args)
