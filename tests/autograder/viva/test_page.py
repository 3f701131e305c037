"""How the questions of a talk are shared among the exercises."""

from autograder.viva.page import ExerciseQuestions, _dealt


def test_the_questions_of_a_talk_are_shared_among_the_exercises():
    made = [ExerciseQuestions(name, "", "", ({"n": 1}, {"n": 2}, {"n": 3})[:some]) for name, some in
            (("a", 3), ("b", 1), ("c", 3))]  # fmt: skip
    assert [len(one.questions) for one in _dealt(made, 5)] == [2, 1, 2]
    assert [len(one.questions) for one in _dealt(made, 2)] == [1, 1, 0]
    assert _dealt(made, 9) == made
