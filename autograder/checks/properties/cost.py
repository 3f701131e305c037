"""How the cost of a call grows with the length.

For our own answers torch's modes count the operations where they run: small inputs are enough to see growth, and
counts do not depend on how busy the machine is. A box could lie about such a count, so there the kernel measures
processor time and peak memory at three lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_flatten

from autograder.checks.clock import reference_box
from autograder.checks.compare import agree
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Case, Check, Draw, NotRun, Probe
from autograder.checks.properties._spy import spy_on
from autograder.sandbox.cgroup import ResourceUsage
from autograder.sandbox.client import SandboxClient

ROOM = 4  # times the reference's own count: another style costs less, another order of growth costs more
DOUBLINGS = (4, 2, 1)  # the lengths at which a box is measured: the longest divided by these
GROWTH, DOUBLING = 8, 2.8  # limits for the time at four times and at twice the length; linear cost gives 4 and 2
SLACK_S, SLACK_BYTES = 0.1, 48 << 20  # smaller differences are ignored: one-time costs and rounding
HELD_BYTES = 80 << 20  # before the call: a notebook with plots holds half of it, a table of all pairs 100 MB
# Code that idles on shorter inputs makes any cost look linear. So there is a limit that does not depend on growth, at
# FAR times the longest length: BOUND times the reference's time. A loop over positions in Python takes half of that.
FAR, BOUND = 2, 150
PLOTS_BYTES = 52 << 20  # what is held beyond a notebook with plots counts as if the call had made it
TRIES = 3  # measurements of a time that is too long; noise is not expected three times
WITHIN_LIMIT, TOO_EXPENSIVE, OTHER_VALUES = "within the limit", "too expensive", "other values"


def cost(
    case: Callable[[Draw, int], Case], sentence: str, *, count_at: int, measure_at: int, weight: float = 1.0
) -> Check:
    """The cost does not grow faster than the length.

    `case(draw, length)` gives a case of any length. Our own answers are counted at the length `count_at`; boxes are
    measured at `measure_at`, its half and its quarter, and a table of all pairs must take at least 100 MB at
    `measure_at`. `sentence` is the message for an answer that costs too much.
    """

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """One question; its case is the small one."""
        small = case(draw, count_at)
        allowed = {name: ROOM * count for name, count in _counts(small, without_device(reference)).items()}
        seed = draw.integer(0, 2**31)

        def ask(subject: Any) -> str:
            """WITHIN_LIMIT, TOO_EXPENSIVE or OTHER_VALUES. Raises NotRun if nothing counts a box's resources."""
            subject = without_device(subject)
            if isinstance(subject, LocalSubject):
                counts = _counts(small, subject)
                return (
                    WITHIN_LIMIT
                    if all(counts.get(name, 0) <= most for name, most in allowed.items())
                    else TOO_EXPENSIVE
                )
            found = measure_box(subject, case, measure_at, seed, reference)
            return found if found != WITHIN_LIMIT else _bounded(subject, case, FAR * measure_at, seed, reference)

        return [Probe(ask, small)]

    explain = lambda _, answer: WRONG_VALUES if answer == OTHER_VALUES else sentence
    return Check("cost", probes, weight, explain=explain, property="cost")


WRONG_VALUES = "on a long input the values are wrong, so the cost was not measured"


def without_device(subject: Any) -> Any:
    """The subject behind a `DeviceSubject`, or the subject itself: costs are counted on the CPU."""
    return getattr(subject, "subject", subject)


def _counts(case: Case, subject: Any) -> dict[str, int]:
    report = spy_on(subject, lambda: case.value(subject))
    return {name: value for name in ("work", "largest") if isinstance(value := report.get(name), int)}


def measure_box(
    student: SandboxClient, case: Callable[[Draw, int], Case], longest: int, seed: int, reference: Any
) -> str:
    """WITHIN_LIMIT, TOO_EXPENSIVE or OTHER_VALUES, from the control group's measurements at three lengths.

    Memory comes first, while the box has no place of large freed blocks, and then time, for which the box's C library
    keeps such blocks: memory that goes back to the kernel at each call costs page faults, which take time too. Each
    call gets new inputs, so that cached answers are of no use.
    """
    if not student.is_metered:
        raise NotRun(f"no control group measures the {student.backend.name} box, whose own report is not trusted")
    reference = without_device(reference)

    def used_at(*turn_and_part: int) -> tuple[ResourceUsage, int] | None:
        """What the call at the longest length / part uses, and its answer's bytes; None if the values are wrong."""
        one = case(Draw(seed, *turn_and_part, reference=reference), longest // turn_and_part[-1])
        return _measured(student, one, one.value(reference))

    student.steady_memory()
    found = used_at(0, DOUBLINGS[0]) and used_at(0, DOUBLINGS[-1])  # the very first call is a warm-up
    if found is None:
        return OTHER_VALUES
    used, size = found
    own_bytes = used.grown_bytes + max(0, used.held_bytes - PLOTS_BYTES)
    if own_bytes > SLACK_BYTES + ROOM**2 * size or used.held_bytes > HELD_BYTES:
        return TOO_EXPENSIVE  # a table that was made before the call is not seen to grow
    student.keep_freed_memory()
    for turn in range(1, TRIES + 1):
        spent = [used_at(turn, place, part) for place, part in enumerate((DOUBLINGS[0], *DOUBLINGS))]
        seconds = [found[0].cpu_s for found in spent if found is not None]
        if len(seconds) < len(spent):
            return OTHER_VALUES
        if not _grows(seconds[1:]):
            return WITHIN_LIMIT
    return TOO_EXPENSIVE


def _bounded(student: SandboxClient, case: Callable[[Draw, int], Case], length: int, seed: int, reference: Any) -> str:
    """WITHIN_LIMIT if one of some calls at this length takes at most BOUND times the reference's time in a box of its
    own, TOO_EXPENSIVE, or OTHER_VALUES."""
    reference = without_device(reference)
    cases = [case(Draw(seed, "far", turn, reference=reference), length) for turn in range(TRIES)]
    with reference_box(student, reference) as known:
        known.keep_freed_memory()
        found = [_measured(known, one, one.value(reference)) for one in cases]
    most = SLACK_S + BOUND * min(used.cpu_s for used, _ in filter(None, found))
    for one in cases:
        measured = _measured(student, one, one.value(reference))
        if measured is None:
            return OTHER_VALUES
        if measured[0].cpu_s <= most:
            return WITHIN_LIMIT
    return TOO_EXPENSIVE


def _measured(student: SandboxClient, case: Case, expected: Any) -> tuple[ResourceUsage, int] | None:
    """What the student's call uses, and the bytes of its answer; None if that is not the expected one."""
    size = _size(expected)
    student.limit_answer(size)
    with student.measure() as used:
        actual = case.value(student)
    return (used, size) if agree(expected, actual, case.tolerance) else None


def _grows(seconds: list[float]) -> bool:
    """Whether the times at one, two and four times a length grow faster than linearly."""
    one, two, four = seconds
    return four > SLACK_S + GROWTH * one and four > DOUBLING * two


def _size(value: Any) -> int:
    return sum(leaf.numel() * leaf.element_size() for leaf in tree_flatten(value)[0] if isinstance(leaf, Tensor))
