"""Which torch functions a call uses and how much, counted by torch's own modes where the code runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ATTENTION = ("scaled_dot_product_attention", "multi_head_attention_forward", "_native_multi_head_attention",
             "_transformer_encoder_layer_fwd")  # fmt: skip
RECURRENT = ("rnn_tanh", "rnn_tanh_cell", "rnn_relu", "rnn_relu_cell", "lstm", "gru")

SPY = '''
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# where the left factor stands among the arguments
FACTORS = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1}


class Names(TorchFunctionMode):
    """Every function of torch that is called, by whatever name it was imported."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.add(getattr(function, "__name__", ""))
        return function(*args, **(kwargs or {}))


class Work(TorchDispatchMode):
    """Operations; multiplications, and one for each other number made; and the largest block of memory."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch loads its compiler first: two seconds in every box

    def __init__(self):
        super().__init__()
        self.calls = self.work = self.largest = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        self.calls += 1
        place = FACTORS.get(function.overloadpacket.__name__)
        for tensor in out if isinstance(out, (list, tuple)) else [out]:
            if isinstance(tensor, torch.Tensor):
                self.work += tensor.numel() * (1 if place is None else args[place].shape[-1])
                self.largest = max(self.largest, tensor.untyped_storage().nbytes())
        return out


modes = []


def spy_begin():
    modes[:] = [Names(), Work()]
    for mode in modes:
        mode.__enter__()


def spy_end():
    for mode in reversed(modes):
        mode.__exit__(None, None, None)
    names, work = modes
    return {"names": sorted(names.names), "calls": work.calls, "work": work.work, "largest": work.largest}
'''


def spy_on(subject: Any, action: Callable[[], object]) -> dict[str, Any]:
    """`names` of torch's functions that the action calls, the `calls` of its operations, their `work`, and the bytes of
    the `largest` block.

    The counting happens where the subject runs. A box could lie about it, so it costs no points unless a check asks for
    that (`built`, `graded=True`).
    """
    report = run_between(subject, SPY, ("spy_begin", "spy_end"), action)
    return report if isinstance(report, dict) else {}


def run_between(subject: Any, source: str, names: tuple[str, str], action: Callable[[], object]) -> Any:
    """Run the action after the first of two functions of `source`, which are run where the subject is, and before the
    second; what that returns. Raises what the action raises, or StudentError."""
    begin, end = names
    subject.bind(source, [begin, end])
    subject.call(begin)
    try:
        action()
    finally:
        report = subject.call(end)
    return report
