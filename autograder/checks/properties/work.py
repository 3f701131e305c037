"""Work in vain: multiplications that the way which the exercise teaches does not make. A remark without points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.probe import Case, Check, Draw, Probe
from autograder.checks.properties._spy import spy_on
from autograder.checks.properties.cost import TOO_EXPENSIVE, WITHIN_LIMIT, without_device


def work(case: Callable[[Draw], Case], sentence: str, times: float = 2.5) -> Check:
    """One call takes at most `times` the work of the reference's: multiplications, and other numbers made.

    The count comes from where the code runs, so it costs no points. `sentence` is the remark on an answer that takes
    more, which should say what is computed in vain; the case has to be one in which nothing else costs as much.
    """

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """One question."""
        one = case(draw)
        most = times * _work(one, reference)
        return [Probe(lambda subject: WITHIN_LIMIT if _work(one, subject) <= most else TOO_EXPENSIVE, one)]

    return Check("work", probes, 0.0, explain=lambda *_: sentence, graded=False, property="cost")


def _work(case: Case, subject: Any) -> int:
    subject = without_device(subject)
    count = spy_on(subject, lambda: case.value(subject)).get("work")
    return count if isinstance(count, int) else 0
