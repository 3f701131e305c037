"""What a call takes from torch and how much it computes: counted where it runs, by torch's own modes.

Counts, not seconds: a machine that is busy must not cost anybody a mark, and small inputs are enough to see growth.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

from autograder.checks.probe import Case, Check, Draw, Probe
from autograder.checks.properties import Cases

ATTENTION = ("scaled_dot_product_attention", "multi_head_attention_forward", "_native_multi_head_attention",
             "_transformer_encoder_layer_fwd")  # fmt: skip
RECURRENT = ("rnn_tanh", "rnn_tanh_cell", "rnn_relu", "rnn_relu_cell", "lstm", "gru")
ROOM = 4  # times the reference's own count: another style costs less, another order of growth costs more
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
    """Multiplications, and one for each other number made; and the largest block of memory."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch loads its compiler first: two seconds in every box

    def __init__(self):
        super().__init__()
        self.work = self.largest = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
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
    return {"names": sorted(names.names), "work": work.work, "largest": work.largest}
'''


def seen(subject: Any, action: Callable[[], object]) -> dict[str, Any]:
    """`names` of torch's functions that the action calls, its `work` and the bytes of its `largest` block.

    The counting is done in the box: what it answers is as much the student's word as any result is.
    """
    subject.bind(SPY, ["spy_begin", "spy_end"])
    subject.call("spy_begin")
    try:
        action()
    finally:
        report = subject.call("spy_end")
    return report if isinstance(report, dict) else {}


def built(cases: Cases, names: tuple[str, ...], graded: bool = False) -> Check:
    """Built, not borrowed: none of torch's functions of these names is called. Reported, or graded as well."""

    def borrowed(case: Case, subject: Any) -> list[str]:
        """Which of `names` one call reached, as the spy in the box saw it."""
        called = seen(subject, lambda: case.value(subject)).get("names")
        return [name for name in names if isinstance(called, list) and name in called]

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """Of the first two cases only."""
        return [Probe(partial(borrowed, case), case) for case in islice(cases(draw), 2)]

    note = "" if graded else "; this costs nothing, but it leaves out what the exercise is about"
    told = lambda _, called: f"your code calls torch's own {' and '.join(map(str, called))}{note}"
    return Check("built, not borrowed", probes, float(graded), explain=told, graded=graded)


def cost(
    cases: Cases,
    sentence: str,
    action: Callable[[Case, Any], Callable[[], object]] = lambda case, subject: lambda: case.value(subject),
    weight: float = 1.0,
) -> Check:
    """Work and largest block stay within a few times the reference's, on cases long enough to tell growths apart.

    `action(case, subject)` prepares and gives the call that is measured; `sentence` is said to who does too much.
    """

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """The reference is counted first, on the same case."""
        return [Probe(_within(case, _counts(case, action, reference), action), case) for case in cases(draw)]

    return Check("cost", probes, weight, explain=lambda _, within: f"{sentence} ({_too_much(within)})")


def _counts(case: Case, action: Callable, subject: Any) -> dict[str, int]:
    report = seen(subject, action(case, subject))
    return {name: value for name in ("work", "largest") if isinstance(value := report.get(name), int)}


def _within(case: Case, allowed: dict[str, int], action: Callable) -> Callable[[Any], dict[str, bool]]:
    def ask(subject: Any) -> dict[str, bool]:
        """Whether work and largest block are each within ROOM times what is allowed; a missing count is."""
        counted = _counts(case, action, subject)
        return {name: counted.get(name, bound) <= ROOM * bound for name, bound in allowed.items()}

    return ask


def _too_much(within: Any) -> str:
    words = {"work": "computes", "largest": "holds at once"}
    much = [words[name] for name in words if isinstance(within, dict) and not within.get(name, True)]
    return f"it {' and '.join(much)} more than {ROOM} times what is needed"
