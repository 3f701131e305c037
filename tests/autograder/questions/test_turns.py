"""What is taken in turn."""

from autograder.questions.turns import in_turn


def test_each_list_has_its_turn_until_it_is_empty():
    assert in_turn([[1, 2, 3], [], [4, None]]) == [1, 4, 2, None, 3] and in_turn([]) == []
