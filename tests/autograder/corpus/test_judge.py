"""Our own answers: the right ones pass, every wrong one fails and is called by its name."""

from functools import lru_cache

import pytest

from autograder.checks.mutation import mutation_score, total
from autograder.corpus.judge import ask_reference, combine_scores, examine_answer, is_combination, judge
from autograder.diagnosis.diagnose import Misconception, known_answers
from autograder.exercises import registry
from autograder.exercises.answers import answers

EXERCISES = registry.exercises()
question_sets = lru_cache(maxsize=1)(ask_reference)  # the tests of one exercise follow one another


@pytest.mark.sampled(10)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_every_answer_is_judged_rightly(exercise):
    score = judge(exercise, question_sets(exercise, 3), leave_out=False)
    assert score.complaints == []
    assert score.right >= 2 and score.wrong >= 2
    assert score.rejected == score.named == score.wrong
    assert score.rewritten - score.recognised <= 1, score.notes


@pytest.mark.slow
@pytest.mark.sampled(24)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_a_wrong_answer_that_is_not_known_seldom_gets_the_name_of_another(exercise):
    score = judge(exercise, question_sets(exercise, 3))
    assert score.wrong - score.unnamed - score.explained_by_others <= 2, score.notes


@pytest.mark.sampled(4)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_a_sample_of_slips_in_the_reference_is_caught(exercise):
    assert mutation_score(exercise, question_sets(exercise, 3), every=6).complaints == []


def test_two_mistakes_are_a_third_only_where_they_answer_every_question_alike():
    exercise = next(one for one in EXERCISES if one.id == "xlnet.permutation_masks")
    inverted = next(path for path in known_answers(exercise) if path.stem == "marks_what_is_hidden")
    findings = examine_answer(inverted, question_sets(exercise, 3))

    def same(name: str) -> bool:
        return is_combination(exercise, Misconception(name, ""), findings)

    assert same("streams_exchanged + later_instead_of_earlier")
    assert not same("streams_exchanged + order_read_backwards")
    assert not same("marks_what_is_hidden") and not same("streams_exchanged + no_such_mistake")


REWRITTEN = [exercise for exercise in EXERCISES if answers(exercise, "rewritten")]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_misconceptions_in_other_words_are_recognised_and_unknown_ones_get_no_name(every):
    scores = [judge(exercise, question_sets(exercise, 5)) for exercise in REWRITTEN[:: every(4)]]
    whole = combine_scores(scores)
    notes = [f"{score.exercise}: {note}" for score in scores for note in score.notes]
    assert whole.rewritten >= 50 // every(4) and whole.recognised >= 0.9 * whole.rewritten, notes
    assert whole.unnamed >= 0.95 * whole.wrong, notes


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_nearly_every_slip_is_caught_and_the_list_of_equivalent_ones_holds(every):
    scores = [mutation_score(exercise, question_sets(exercise, 3), every(8)) for exercise in EXERCISES[:: every(3)]]
    complaints = [complaint for score in scores for complaint in score.complaints]
    assert [complaint for complaint in complaints if complaint.startswith("equivalent.toml")] == []
    whole = total(scores)
    assert whole.killed >= 0.97 * (whole.killed + whole.survived) > 1000 / every(8) / every(3), complaints


@pytest.mark.slow
@pytest.mark.sampled(30)
@pytest.mark.parametrize("seed", range(10, 12))
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_whatever_is_drawn(exercise, seed):
    assert judge(exercise, question_sets(exercise, seed), leave_out=False).complaints == []


def test_wrong_answers_have_a_sentence_for_the_student():
    from autograder.diagnosis.diagnose import student_sentence

    for exercise in EXERCISES:
        for path in [*answers(exercise, "wrong"), *answers(exercise, "edge")]:
            assert len(student_sentence(path)) > 20, path.name
