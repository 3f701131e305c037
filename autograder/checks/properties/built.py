"""Whether the answer calls a ready-made function of torch instead of building it."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import Any

from autograder.checks.probe import Case, Check, Draw, Probe
from autograder.checks.properties._probes import Cases
from autograder.checks.properties._spy import spy_on


def built(cases: Cases, names: tuple[str, ...], graded: bool = False) -> Check:
    """None of torch's functions with these names is called. It is only reported unless `graded`."""

    def borrowed(case: Case, subject: Any) -> list[str]:
        """The functions among `names` that one call used, as counted in the box."""
        called = spy_on(subject, lambda: case.value(subject)).get("names")
        return [name for name in names if isinstance(called, list) and name in called]

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """One probe for each of the first two cases."""
        return [Probe(partial(borrowed, case), case) for case in islice(cases(draw), 2)]

    note = "" if graded else "; this costs no points, but it skips what the exercise is about"
    explain = lambda _, called: f"your code calls torch's own {' and '.join(map(str, called))}{note}"
    return Check("built from basic operations", probes, float(graded), explain=explain, graded=graded)
