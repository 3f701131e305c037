"""The seeds of a submission: of its key, its student, its code and the exercise, and of nothing else."""

import subprocess
import sys

import pytest

from autograder.exercises import registry
from autograder.grade import run, seeds

ATTEND, SPLIT = registry.find("attention.attend"), registry.find("attention.split_heads")


def test_seeds_differ_by_key_student_and_exercise():
    found = {seeds.seed_for(key, who, what) for key in (None, b"k") for who in "ab" for what in (ATTEND, SPLIT)}
    assert len(found) == 8
    assert seeds.seed_for(b"k", "a", ATTEND) == seeds.seed_for(b"k", "a", ATTEND)


def test_the_seed_of_a_feedback_draws_nothing_for_the_next_hand_in():
    first, again, next_one = ([seeds.CellSource("a", text, "attention.attend")] for text in ("x = 1", "x = 1", "x = 2"))
    attempts = [seeds.attempt_of("ada", sources) for sources in (first, again, next_one)]
    assert attempts[0] == attempts[1] != attempts[2] and seeds.attempt_of("ben", first) != attempts[0]


def test_an_engine_without_the_seed_that_was_to_be_sent_draws_no_other():
    """Any other is known to everybody: a worker that lost it would grade with inputs that a student can foresee."""
    found = {ATTEND.id: 7}
    assert run.Grader([], None, seeds=found)._seed_of(ATTEND) == 7
    with pytest.raises(LookupError, match=f"no seed was drawn for {SPLIT.id}"):
        run.Grader([], None, seeds=found)._seed_of(SPLIT)


def test_the_grader_draws_seeds_without_torch():
    """It holds the class's records, and no library that it does not need."""
    words = "import sys; import autograder.cluster.seeds; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", words], timeout=120).returncode == 0
