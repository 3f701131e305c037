"""Peak memory: how many numbers are held at once.

For our own answers the numbers are counted where they run, on a small input: the largest floating-point tensor, and
all tensors that exist at once. A box could lie about such a count, so there the kernel measures memory on a long
input, as for `cost`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.local import LocalSubject
from autograder.checks.probe import Case, Check, Draw, Probe
from autograder.checks.properties._spy import run_between
from autograder.checks.properties.cost import (
    OTHER_VALUES,
    TOO_EXPENSIVE,
    WITHIN_LIMIT,
    WRONG_VALUES,
    measure_box,
    without_device,
)

ONE, ALL = 1.5, 14  # multiples of the allowed number: for one tensor (with some more columns), and for all tensors

SPY = '''
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode


class Holding(TorchDispatchMode):
    """Floating numbers: of the largest tensor that is made, and of all that are alive together."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch loads its compiler first

    def __init__(self):
        super().__init__()
        self.largest = self.together = 0
        self.alive = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, (list, tuple)) else [out]:
            if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                self.largest = max(self.largest, self._made(tensor))
        self.alive = {key: pair for key, pair in self.alive.items() if not pair[0].expired()}
        self.together = max(self.together, sum(count for _, count in self.alive.values()))
        return out

    def _made(self, tensor):
        """The numbers that lie in memory for it; a view, or an expanded tensor, has no more than what it looks at."""
        storage = tensor.untyped_storage()
        count = storage.nbytes() // tensor.element_size()
        self.alive[storage._cdata] = StorageWeakRef(storage), count
        return count


modes = []


def peak_begin():
    modes[:] = [Holding()]
    modes[0].__enter__()


def peak_end():
    modes[0].__exit__(None, None, None)
    return [modes[0].largest, modes[0].together]
'''


def peak(
    small: Callable[[Draw], tuple[Case, int]],
    long: Callable[[Draw, int], Case],
    sentence: str,
    *,
    measure_at: int,
    weight: float = 6.0,
) -> Check:
    """Never holds more floating-point numbers at once than allowed.

    `small(draw)` gives a case and the allowed number, well above the size of the case's inputs. `long(draw, length)`
    gives a case of any length; at the length `measure_at` all numbers together must take at least 100 MB, and the
    allowed ones less than 8 MB. `sentence` is the message for an answer that holds too much.
    """

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """One question; its case is the small one."""
        case, allowed = small(draw)
        seed = draw.integer(0, 2**31)

        def ask(subject: Any) -> str:
            """WITHIN_LIMIT, TOO_EXPENSIVE or OTHER_VALUES. Raises NotRun if nothing counts a box's resources."""
            subject = without_device(subject)
            if isinstance(subject, LocalSubject):
                largest, together = _counts(case, subject)
                return WITHIN_LIMIT if largest <= ONE * allowed and together <= ALL * allowed else TOO_EXPENSIVE
            return measure_box(subject, long, measure_at, seed, reference)

        return [Probe(ask, case)]

    explain = lambda _, answer: WRONG_VALUES if answer == OTHER_VALUES else sentence
    return Check("peak memory", probes, weight, explain=explain, property="cost")


def _counts(case: Case, subject: Any) -> tuple[int, int]:
    largest, together = run_between(subject, SPY, ("peak_begin", "peak_end"), lambda: case.value(subject))
    return largest, together
