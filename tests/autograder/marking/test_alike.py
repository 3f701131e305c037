"""Answers that say the same stand together."""

from autograder.marking import alike

PROSE = {
    "ada": "The mask shows the next word, so training copies it. Change a later word: no earlier output may move.",
    "ben": "It sees the next word and copies it in training. No earlier output may move when a later word changes.",
    "dora": "This is overfitting: it has learnt the training data by heart. Use dropout and a validation set.",
    "emil": "Overfitting! The training data are learnt by heart; look at a validation set, add dropout.",
    "goran": "The learning rate is too high.",
}


def test_prose_is_grouped_by_its_words():
    groups = alike.groups_of_prose(PROSE)
    assert sorted(map(sorted, groups)) == [["ada", "ben"], ["dora", "emil"], ["goran"]]
    assert len(groups[-1]) == 1  # the largest come first


def test_a_group_is_called_by_the_words_that_only_it_has():
    said = alike.label(PROSE, ["dora", "emil"])
    assert "overfitting" in said
    assert "next" not in said


def test_code_is_alike_whatever_its_names_and_spaces_are():
    loop = "def f({0}):\n    total = 0\n    for one in {0}:\n        total = total + one * one\n    return total\n"
    other = "import torch\ndef f(x):\n    return torch.einsum('i,i->', x, x).sqrt().clamp(min=0.0).item()\n"
    groups = alike.groups_of_code({"a": loop.format("x"), "b": loop.format("numbers"), "c": other, "d": "def f("})
    assert sorted(map(sorted, groups)) == [["a", "b"], ["c"], ["d"]]


def test_nothing_is_alike_nothing():
    assert alike.groups_of_prose({}) == []
    assert alike.label({"a": "x"}, ["a"]) == ""
