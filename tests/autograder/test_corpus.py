"""Our own answers: the right ones pass, every wrong one fails and is called by its name."""

import pytest

from autograder import registry
from autograder.checks.corpus import answers, judge

EXERCISES = registry.exercises()


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_every_answer_is_judged_rightly(exercise):
    score = judge(exercise, seed=3)
    assert score.complaints == []
    assert score.right >= 2 and score.wrong >= 2
    assert score.caught == score.named == score.wrong


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 12))
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_whatever_is_drawn(exercise, seed):
    assert judge(exercise, seed).complaints == []


def test_wrong_answers_have_a_sentence_for_the_student():
    from autograder.diagnose import _misconception

    for exercise in EXERCISES:
        for path in answers(exercise, "wrong"):
            assert len(_misconception(path).hint) > 20, path.name
