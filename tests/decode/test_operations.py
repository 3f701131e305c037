"""How many operations a step of decoding is: over one row they cost more than what they compute, products apart."""

from collections import Counter

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import tfkit
from tests.models.test_laws import make


class Counting(TorchDispatchMode):
    """Counts the operations that reach PyTorch's dispatcher."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.counts[func.overloadpacket.__name__] += 1
        return func(*args, **(kwargs or {}))


def operations_of_a_step(name, layers):
    model, ids = make(name, n_layers=layers)[1], torch.arange(3, 8)[None]

    def count(new):
        with Counting() as counting:
            tfkit.generate(model, ids, max_new_tokens=new, end_id=-1, attention_mask=torch.ones_like(ids))
        return counting.counts

    return count(6) - count(5)  # the cache has room for both


@pytest.mark.parametrize(("name", "most"), [("llama", 59), ("gpt2", 27)])
def test_a_layer_adds_so_many_operations_to_a_step(name, most):
    added = operations_of_a_step(name, 3) - operations_of_a_step(name, 2)
    assert sum(added.values()) <= most, added
    assert added["linear"] == {"llama": 7, "gpt2": 6}[name]
