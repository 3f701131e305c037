"""A device that is not there: tensors that say they lie on `meta`, and hold their numbers on the CPU all the same.

As on a card, tensors of two devices do not mix, and what is made without a device lies on the CPU. So whatever runs on
it would run on a card as well, but for what cards lack and how they round. `waiting` tells what would make the host
wait for the card: a value that is read, a shape that depends on values, a copy from one side to the other.
"""

from contextlib import contextmanager

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

DEVICE = "meta"
MIXING = ("copy_", "_to_copy", "index", "index_put_", "index_put", "_index_put_impl_")  # these take both, as on a card

VALUES = (
    "_local_scalar_dense", "nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "bincount",
    "multinomial",  # it looks whether these are probabilities
)  # fmt: skip
waits = None  # while `waiting` lasts, a list


class There(torch.Tensor):
    """A tensor over there; `near` holds its numbers."""

    @staticmethod
    def __new__(cls, near):
        return torch.Tensor._make_wrapper_subclass(
            cls, near.shape, strides=near.stride(), storage_offset=near.storage_offset(), dtype=near.dtype,
            device=DEVICE, requires_grad=False)  # fmt: skip

    def __init__(self, near):
        self.near = near

    def tolist(self):
        note_wait("tolist")
        return self.near.tolist()

    def __getitem__(self, index):
        return super().__getitem__(_index(index))

    def __setitem__(self, index, value):
        super().__setitem__(_index(index), value)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return run(function, args, kwargs or {})


class Made(TorchFunctionMode):
    """What is made of lists is made at home and sent there."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.tensor and (kwargs or {}).get("device") is not None:
            return function(*args, **{**kwargs, "device": "cpu"}).to(kwargs["device"])
        return function(*args, **(kwargs or {}))


class Run(TorchDispatchMode):
    """What is made on the device without one of its tensors."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch loads its compiler

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return run(function, args, kwargs or {})


@contextmanager
def pretended():
    """While it lasts, the device is there."""
    torch.__future__.set_overwrite_module_params_on_conversion(True)  # the other way knows nothing of `near`
    try:
        with Run(), Made():
            yield
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)


@contextmanager
def waiting():
    """While it lasts, a list grows by the name of each operation for which a host would wait."""
    global waits
    waits = []
    try:
        yield waits
    finally:
        waits = None


def note_wait(name):
    if waits is not None:
        waits.append(name)


def must_wait(name, there, tensors, far):
    if name in VALUES or (name.startswith("repeat_interleave") and len(tensors) > 1):
        return bool(there)
    if name in ("index", "index_put", "index_put_", "_index_put_impl_"):
        return len(there) != len(tensors) or any(tensor.dtype == torch.bool for tensor in tensors[1:])
    return name in ("_to_copy", "copy_") and len(there) != len(tensors) if far else name == "_to_copy" and bool(there)


def run(function, args, kwargs):
    tensors = list(_tensors((args, kwargs.values())))
    there = [tensor for tensor in tensors if isinstance(tensor, There)]
    target = kwargs.get("device")
    if not there and target is None:
        return function(*args, **kwargs)
    name = function.overloadpacket.__name__
    if there and name not in MIXING and any(not isinstance(tensor, There) and tensor.dim() for tensor in tensors):
        raise RuntimeError(f"Expected all tensors to be on the same device, but found {DEVICE} and cpu ({name})")
    known = {id(tensor.near): tensor for tensor in there}  # what is written in place stays the object that it was
    args, kwargs = tree_map(lambda leaf: leaf.near if isinstance(leaf, There) else leaf, (args, kwargs))
    far = bool(there) if target is None else torch.device(target).type == DEVICE
    if must_wait(name, there, tensors, far):
        note_wait(name)
    out = function(*args, **(kwargs if target is None else {**kwargs, "device": "cpu"}))
    far = far and (name != "copy_" or id(out) in known)
    return tree_map(lambda leaf: _far(leaf, known) if far and isinstance(leaf, torch.Tensor) else leaf, out)


def _index(index):
    if isinstance(index, tuple):
        return tuple(map(_index, index))
    return torch.tensor(index, dtype=None if index else torch.int64) if isinstance(index, list) else index


def _tensors(tree):
    for leaf in tree:
        if isinstance(leaf, torch.Tensor):
            yield leaf
        elif isinstance(leaf, (list, tuple)) or type(leaf).__name__ == "dict_values":
            yield from _tensors(leaf)


def _far(near, known):
    if id(near) not in known:
        return There(near)
    tensor = known[id(near)]
    if tensor.shape != near.shape:  # squeeze_ and the like, which matmul uses for a vector
        tensor.data = There(near)
    return tensor
