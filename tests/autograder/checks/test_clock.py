"""The clock of `speed`: who is as fast as the reference passes, who is not fails, and a doubt costs nothing."""

import math
import sys

import pytest

from autograder.api import Exercise
from autograder.checks import Case, speed
from autograder.checks.clock import UNASKED, BoxClock, Timing, clock_of
from autograder.checks.local import LocalSubject
from autograder.checks.probe import NotRun, examine
from autograder.checks.properties.speed import verdict_of
from autograder.grade import run
from autograder.sandbox import SandboxError, choose
from autograder.sandbox.bubblewrap_alone import BubblewrapOnly
from autograder.sandbox.client import Cell, SandboxClient

REFERENCE = """
import torch

def scores(x, w):
    return (x @ w).softmax(-1)
"""
SLOW = REFERENCE + """
once = scores

def scores(x, w):
    for _ in range(8):
        out = once(x, w)
    return out
"""  # fmt: skip
ONE_ANSWER = SLOW + """
slowly, kept = scores, []

def scores(x, w):
    kept.append(slowly(x, w) if not kept else kept[0])
    return kept[0]
"""  # fmt: skip
BETWEEN_TURNS = REFERENCE + """
import threading, time

def works():
    while True:
        out = torch.ones(256, 256) @ torch.ones(256, 256)

threading.Thread(target=works, daemon=True).start()
"""  # fmt: skip


def case(draw):
    return Case("scores", (draw.normal(512, 512), 0.05 * draw.normal(512, 512)), length=512, amplify=4.0)


def tiny(draw):
    return Case("scores", (draw.normal(2, 2), draw.normal(2, 2)))


def boxed(backend, source, **how):
    with SandboxClient(backend) as student:
        student.run_cells([Cell("answer", source)])
        check = speed(how.pop("case", case), "too slow", at_most=2.0, **how)
        return examine([check], student, LocalSubject.from_source(REFERENCE), 1)[0]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (REFERENCE, ""),
        (SLOW, "too slow (it takes"),
        (ONE_ANSWER, "the values are wrong in a call whose time was to be measured"),
        (BETWEEN_TURNS, "too slow (it takes"),
    ],
    ids=["as fast", "slow", "one answer for all", "works between turns"],
)
def test_time_is_told_outside_the_box(source, said):
    message = boxed(choose(), source).message
    assert message.startswith(said) and bool(message) == bool(said)


def test_a_box_without_control_groups_has_the_same_clock():
    backend = BubblewrapOnly()
    try:
        backend.probe()
    except SandboxError as error:
        pytest.skip(f"not here: {error}")
    finding = boxed(backend, SLOW)
    backend.close()
    assert finding.message.startswith("too slow (it takes")


def test_our_own_answers_are_timed_in_this_process():
    """What a corpus says of an answer without a box."""
    own = lambda source: examine([speed(case, "too slow", at_most=3.0)], LocalSubject.from_source(source),
                                 LocalSubject.from_source(REFERENCE), 1)[0].message  # fmt: skip
    assert own(REFERENCE) == "" and own(SLOW).startswith("too slow")


def test_who_uses_the_budget_up_at_once_is_not_in_doubt():
    """Otherwise the slowest answers were the only ones that nobody could tell from quick ones."""
    very_slow = SLOW.replace("range(8)", "range(200)")
    assert boxed(choose(), very_slow, budget_s=0.1).message.startswith("too slow (it takes")
    assert Timing(2.0, warm_ups=[9.0, 9.0], budget_s=1.0, spent_s=2.0).is_within is False
    assert Timing(2.0, warm_ups=[300.0], budget_s=1.0, spent_s=2.0).is_within is None  # it may compile something once
    assert Timing(2.0, warm_ups=[300.0, 1.0], budget_s=1.0, spent_s=2.0).is_within is None
    assert Timing(2.0, warm_ups=[7.0], budget_s=1.0, spent_s=2.0).is_over_budget is False  # the first look is paid for


@pytest.mark.parametrize(
    ("ratios", "within"),
    [
        ([1.0] * 8, True),
        ([3.0] * 8, False),
        ([1.0] * 7 + [9.0], None),  # one turn in eight is not enough to tell
        ([1.0] * 14 + [9.0] * 2, True),
        ([1.9, 2.1] * 16, None),
        ([1.9] * 8 + [2.1] * 24, False),
        ([8.1, 30.0, 9.0], False),  # four times the limit three times
        ([8.1, 30.0, 7.9], None),
        ([], None),
    ],
)
def test_what_an_interval_tells(ratios, within):
    assert Timing(2.0, ratios).is_within is within


def test_looks_are_few():
    """A look at each turn would find a difference by chance more often than once in a hundred."""
    assert [n for n in range(33) if Timing(2.0, [1.0] * n).is_decided] == [8, 16, 32]
    assert Timing(2.0, [1.0] * 7).bounds == (0.0, math.inf) and Timing(2.0, [3.0, 1.0, 2.0]).ratio == 2.0


def test_a_doubt_is_said_and_costs_nothing():
    with pytest.raises(NotRun, match=r"between 1.9 and 2.1 times the reference's time in 32 turns, where 2 times is"):
        verdict_of(Timing(2.0, [1.9, 2.1] * 16))
    said = "takes 3 times the reference's processor time, and 2 times is the limit"
    assert verdict_of(Timing(2.0, [3.0] * 8)) == said


def test_time_that_nobody_asked_for_is_charged_more_than_once():
    class Box:
        used = 1.0

        def usage(self):
            return self

        @property
        def cpu_s(self):
            return self.used

    box = Box()
    clock = BoxClock(box)
    for used, charged in ((2.0, UNASKED * 1.0 + 0.5), (3.0, UNASKED * 0.5 + 0.5), (2.0, 0.5)):
        box.used = used
        clock.resume()
        box.used = max(used, clock.seen) + 0.5
        assert clock.lap() == pytest.approx(charged)


def test_a_clock_that_counts_something_else_is_refused(monkeypatch):
    """On a card the work is nobody's processor time."""
    with SandboxClient(choose()) as student:
        if not student.backend.cards:
            pytest.skip(f"no box of {student.backend.name} can use a card")
        monkeypatch.setattr("autograder.sandbox.nvidia.binds", lambda shown: ["--dev-bind"])
        with pytest.raises(NotRun, match="CUDA_VISIBLE_DEVICES"):
            clock_of(student)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"at_most": 1.0}, "speed: at_most=1 is below 1.2"),
        ({"at_most": math.nan}, "speed: at_most=nan is below 1.2"),
        ({"at_most": 2.0, "budget_s": 0.0}, "speed: budget_s=0 leaves no time"),
    ],
)
def test_a_limit_that_cannot_be_told_is_refused(how, said):
    with pytest.raises(ValueError, match=said):
        speed(case, "too slow", **how)


def test_a_reference_too_quick_to_be_timed_is_the_authors_mistake():
    with pytest.raises(ValueError, match="draw larger inputs in the case of `speed`"):
        boxed(choose(), REFERENCE, case=tiny)


OWN_CHECKS = """
from autograder.checks import Case, function, speed

def scores():
    def cases(draw):
        yield Case("scores", (draw.normal(2, 3), draw.normal(3, 4)))

    def long(draw):
        return Case("scores", (draw.normal(512, 512), 0.05 * draw.normal(512, 512)), length=512, amplify=4.0)

    return [*function(cases), speed(long, "one product does for all rows", at_most=3.0)]
"""


@pytest.fixture
def own_exercise(tmp_path, monkeypatch):
    """An instructor's exercise with the check of docs/units.md, found like any other."""
    (tmp_path / "checks.py").write_text(OWN_CHECKS)
    (tmp_path / "own_scores.py").write_text(REFERENCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in ("own_scores", "autograder_unit_91_own_checks"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    yield Exercise(
        id="own.scores",
        unit="91-own",
        title="Scores",
        symbols=("scores",),
        references=("own_scores:scores",),
        checks="scores",
        folder=tmp_path,
    )
    for module in ("own_scores", "autograder_unit_91_own_checks"):
        sys.modules.pop(module, None)


def test_an_instructors_own_exercise_is_judged_by_it(own_exercise):
    """The slow answer loses the points of its time alone, and reads the sentence."""
    quick, slow = (run.grade_source(own_exercise, text, backend=choose(), seed=3) for text in (REFERENCE, SLOW))
    assert quick.status == "passed" and quick.score == quick.max_score
    lost = [check for check in slow.checks if check.status == "failed"]
    assert [check.name for check in lost] == ["speed"] and lost[0].message.startswith(
        "one product does for all rows (it takes"
    )
    assert 0 < slow.score < slow.max_score
