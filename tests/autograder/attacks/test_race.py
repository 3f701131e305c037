"""No trick moves the clock: a slow answer is slow whatever it says, and an approximation is wrong."""

import pytest

from autograder.attacks.families import SAMPLE
from autograder.attacks.race import CLOCK, PRELUDE, REFERENCE, gained_by, judge, run_race, tricks
from autograder.attacks.stage import Attack
from autograder.sandbox import SandboxError, backends, choose

ISOLATED = [kind.name for kind in backends() if kind.isolated]


def test_there_are_forty_and_those_for_a_card_say_why_they_are_not_played():
    everything = [Attack(path) for path in CLOCK.glob("*.py")]
    assert len(tricks()) >= 40 and all("def scores" in one.text or "scores = slow" in one.text for one in everything)
    assert {one.path.stem for one in everything if one.needs_card} == {
        "copy_not_waited_for", "events_recorded_ahead", "graph_replayed", "stream_not_waited_for"}  # fmt: skip


def test_quick_answers_pass_and_slow_ones_do_not():
    """Otherwise what the tricks get would say nothing."""
    assert gained_by(judge(REFERENCE, choose(), 3)) == "passed as quick"
    assert judge(f"{PRELUDE}\nscores = slow\n", choose(), 3).message.startswith("too slow (it takes")


def test_a_few_tricks_are_not_paid():
    assert run_race([trick for trick in tricks() if trick.name in SAMPLE], choose(), 5) == []


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ISOLATED)
def test_no_trick_is_paid_in_any_box(name):
    try:
        backend = choose(name=name)
    except SandboxError as error:
        pytest.skip(f"not here: {error}")
    assert run_race(tricks(), backend, 7) == []
