"""Speed: how long a call takes, compared with the reference in a box of the same kind on the same machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.clock import Timing, WrongAnswer, time_against_reference
from autograder.checks.probe import Case, Check, Draw, NotRun, Probe
from autograder.checks.properties.cost import OTHER_VALUES, WITHIN_LIMIT

LEAST_RATIO = 1.2  # a limit below it would ask for more than the reference does, or for what no clock can tell
BUDGET_S = 20.0
SEEDS = 1 << 62  # so many that nobody finds the seed from one turn's inputs, and with it the next ones
TOO_SLOW, WRONG_VALUES = "takes ", "the values are wrong in a call whose time was to be measured"


def speed(
    case: Callable[[Draw], Case],
    sentence: str,
    *,
    at_most: float,
    weight: float = 2.0,
    budget_s: float = BUDGET_S,
) -> Check:
    """A call takes at most `at_most` times the reference's processor time.

    `case(draw)` gives inputs for which the reference takes ten milliseconds or more, other ones in each turn: numbers
    that are drawn, not a choice among few. `sentence` is the message for an answer that is too slow. Both together may
    use `budget_s` processor seconds; where it is not clear by then on which side of the limit an answer is, the check
    is not run. See `autograder.checks.clock` for what is measured. Raises ValueError for a limit that cannot be told.
    """
    if not at_most >= LEAST_RATIO:
        raise ValueError(
            f"speed: at_most={at_most:g} is below {LEAST_RATIO:g}, which no clock can tell from the reference's time"
        )
    if not budget_s > 0:
        raise ValueError(f"speed: budget_s={budget_s:g} leaves no time: give processor seconds above 0")

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """One question, with the case of a turn that is never asked."""
        seed = draw.integer(0, SEEDS)

        def ask(subject: Any) -> str:
            """WITHIN_LIMIT, what it takes, or OTHER_VALUES. Raises NotRun where that cannot be told."""
            at = lambda turn: case(Draw(seed, turn, reference=reference))
            try:
                timing = time_against_reference(subject, at, reference, at_most=at_most, budget_s=budget_s)
            except WrongAnswer:
                return OTHER_VALUES
            return verdict_of(timing)

        return [Probe(ask, case(Draw(seed, "shown", reference=reference)), answer=WITHIN_LIMIT)]

    explain = lambda _, answer: WRONG_VALUES if answer == OTHER_VALUES else f"{sentence} (it {answer})"
    return Check("speed", probes, weight, explain=explain, property="cost")


def verdict_of(timing: Timing) -> str:
    """WITHIN_LIMIT, or how much too long it takes. Raises NotRun if that is in doubt."""
    if timing.is_within:
        return WITHIN_LIMIT
    if timing.is_within is None:
        least, most = timing.bounds
        raise NotRun(
            f"could not be told: between {least:.2g} and {most:.2g} times the reference's time in {len(timing.ratios)} "
            f"turns, where {timing.at_most:g} times is the limit; it costs no points"
        )
    taken = f"{timing.ratio:.2g} times the reference's processor time"
    return f"{TOO_SLOW}{taken}, and {timing.at_most:g} times is the limit"
