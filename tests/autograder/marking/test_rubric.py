"""The rubric: a readable file, and marks that follow its changes."""

import pytest

from autograder.marking import desk, rubric
from autograder.marking.store import BadMark, MarkingStore

from .graded import CODE, TASK, give_elsewhere, grade


def ids(root):
    return [one["id"] for one in desk.question(root, TASK)["rubric"]]


def test_the_file_is_read_as_it_was_written(tmp_path):
    odd = 'Say "why"\nin one \\ line: é\x7f'
    items = rubric.add(rubric.add((), odd, None, "eve"), "Half.", 0.5, "otto")
    rubric.write(tmp_path, {TASK: rubric.change(items, 1, dropped=True), CODE: items[1:]})
    assert rubric.read(tmp_path) == {TASK: rubric.change(items, 1, dropped=True), CODE: items[1:]}
    assert "points = 0.5" in (tmp_path / rubric.FILE).read_text()
    assert rubric.read(tmp_path / "none") == {}


OF = '[["a/b/c"]]\n'


@pytest.mark.parametrize(
    "text",
    ["[[x", '"a/b/c" = 3',
     '[["a"]]\nid = 1\ntext = "x"', f'{OF}text = "no id"', f'{OF}id = 1\ntext = "x"\npoints = "many"',
     f'{OF}id = 1\ntext = "x"\npoints = nan', f'{OF}id = 1\ntext = "x"\n{OF}id = 1\ntext = "y"'],
)  # fmt: skip
def test_a_file_that_is_no_rubric_is_refused_with_its_name(tmp_path, root, text):
    (root / rubric.FILE).write_text(text)
    with pytest.raises(rubric.BadRubric, match=r"rubric\.toml"):
        rubric.read(root)
    with pytest.raises(BadMark, match=r"rubric\.toml"):
        desk.question(root, TASK)
    assert (root / rubric.FILE).read_text() == text


SCHEME = """\
One point for each; a bullet may have several lines.

- 1 point: attention keeps one state for *each* word and picks by content: what is kept grows with the sentence, and the
  path from a letter to where it is needed is **one step**.
- 0,5 points: `a * b * c` are 3 * 4 * 5 products, not $x*y*z$.
- Not enough: "attention has
more parameters".
- Related: `rnn.encode/last_state_only`,
  `attention.attend/winner_takes_all`.
"""


def test_an_item_has_all_lines_of_its_bullet():
    items = rubric.items_from_mark_scheme(SCHEME)
    assert [(one.points, one.text) for one in items] == [
        (1.0, "Attention keeps one state for each word and picks by content: what is kept grows with the sentence, and "
              "the path from a letter to where it is needed is one step."),
        (0.5, "`a * b * c` are 3 * 4 * 5 products, not $x*y*z$."),
        (0.0, 'Not enough: "attention has more parameters".'),
    ]  # fmt: skip


def test_a_changed_item_changes_every_mark_that_was_given_with_it(root):
    first, second, third = ids(root)
    desk.set_marks(root, TASK, {"ada": 0}, 1.5, "Well put.", [first, second], "eve")
    desk.set_marks(root, TASK, {"ben": 0}, 1.25, "", [first], "eve")  # a quarter more than the item is worth
    desk.set_marks(root, TASK, {"chen": 0}, 0, "", [third], "eve")
    done = desk.change_item(root, TASK, first, "It copies.", 0.5, "otto")
    assert done == {"done": ["ada", "ben"], "left": []}
    assert grade(root, "ada") == (1.0, False, "It copies.\nA test of a few lines.\nWell put.")
    assert grade(root, "ben") == (0.75, False, "It copies.")
    assert grade(root, "chen")[0] == 0
    with MarkingStore(root) as store:
        assert [mark.author for mark in store.all_marks(TASK)] == ["eve", "eve", "eve", "otto", "otto"]
        assert store.changes(TASK)[-1]["marks"] == 2
    assert "It copies." in (root / rubric.FILE).read_text()


def test_points_stay_between_nothing_and_the_most(root):
    first, *_ = ids(root)
    desk.set_marks(root, TASK, {"ada": 0}, 1, "", [first], "eve")
    desk.change_item(root, TASK, first, "It copies.", 7, "eve")
    assert grade(root, "ada")[0] == 2
    desk.change_item(root, TASK, first, "It copies.", -7, "eve")
    assert grade(root, "ada")[0] == 0
    desk.change_item(root, TASK, first, "It copies.", 1, "eve")
    assert grade(root, "ada")[0] == 1


def test_a_mark_that_the_formgrader_changed_is_left_alone(root):
    first, *_ = ids(root)
    desk.set_marks(root, TASK, {"ada": 0, "ben": 0}, 1, "", [first], "eve")
    give_elsewhere(root, "ada", 2, "Better than that.")
    assert desk.change_item(root, TASK, first, "It copies.", 0.5, "eve") == {"done": ["ben"], "left": ["ada"]}
    assert grade(root, "ada") == (2, False, "Better than that.")


def test_a_file_edited_by_hand_is_applied_when_somebody_says_so(root):
    first, *_ = ids(root)
    desk.set_marks(root, TASK, {"ada": 0}, 1, "", [first], "eve")
    path = root / rubric.FILE
    path.write_text(path.read_text().replace("points = 1\n", "points = 0.25\n"))
    assert desk.question(root, TASK)["outdated"] == 1 and grade(root, "ada")[0] == 1
    assert desk.apply_rubric(root, TASK, "eve") == {"done": ["ada"], "left": []}
    assert desk.question(root, TASK)["outdated"] == 0 and grade(root, "ada")[0] == 0.25


def test_an_item_taken_out_is_not_offered_and_its_marks_stay(root):
    first, *_ = ids(root)
    desk.set_marks(root, TASK, {"ada": 0}, 1, "", [first], "eve")
    desk.remove_item(root, TASK, first, "eve")
    assert first not in ids(root) and grade(root, "ada")[0] == 1
    assert desk.question(root, TASK)["outdated"] == 0
    assert desk.add_item(root, TASK, "New.", None, "eve") > first


@pytest.mark.parametrize(("text", "points"), [("", 1), ("x" * 3000, 1), ("x", float("inf"))])
def test_what_is_no_item_is_refused(root, text, points):
    before = ids(root)
    with pytest.raises(BadMark):
        desk.add_item(root, TASK, text, points, "eve")
    with pytest.raises(BadMark):
        desk.change_item(root, TASK, before[0], text, points, "eve")
    with pytest.raises(BadMark, match="no item 99"):
        desk.set_marks(root, TASK, {"ada": 0}, 1, "", [99], "eve")
    assert ids(root) == before and grade(root, "ada")[1]
