"""The checks pass the right answers and reject the wrong ones, and the lesson becomes a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest
from my_unit import exercises

from autograder.api import Exercise
from autograder.corpus.judge import ask_reference, judge
from autograder.checks.mutation import mutation_score
from course import build


@pytest.mark.parametrize("exercise", exercises(), ids=lambda exercise: exercise.id)
def test_right_passes_wrong_is_named_and_no_mutant_survives(exercise: Exercise) -> None:
    question_sets = ask_reference(exercise, seed=0)
    score, mutants = judge(exercise, question_sets), mutation_score(exercise, question_sets)
    assert [*score.complaints, *mutants.complaints] == []


def test_the_lesson_becomes_a_notebook(tmp_path: Path) -> None:
    for unit in {exercise.unit for exercise in exercises()}:
        (built,) = build.build(tmp_path, [unit])
        assert built.path.is_file()
