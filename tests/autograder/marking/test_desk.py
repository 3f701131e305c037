"""The marking page's questions, on a gradebook as nbgrader's commands leave it."""

import nbformat
import pytest

from autograder.marking import desk
from autograder.marking.store import BadMark, MarkingStore

from .graded import CODE, TASK, TEXTS, UNIT, give_elsewhere, grade


def answers(root, of=TASK):
    return {one["student"]: one for group in desk.question(root, of)["groups"] for one in group["answers"]}


def test_the_questions_that_wait_come_first(root):
    found = [(one["cell"], one["kind"], one["waiting"], one["answers"]) for one in desk.overview(root)]
    assert found == [(TASK.cell, "task", 3, 3), (CODE.cell, "code", 0, 3)]


def test_a_task_shows_what_was_written_below_it_in_groups_of_alike_answers(root):
    found = desk.question(root, TASK)
    groups = [(group["label"], sorted(one["student"] for one in group["answers"])) for group in found["groups"]]
    assert groups[1:] == [("no answer", ["chen"])]
    assert groups[0][1] == ["ada", "ben"]
    assert {one["text"] for group in found["groups"] for one in group["answers"]} == set(TEXTS.values())
    assert "Say why." in found["text"] and "MARK SCHEME" not in found["text"]


def test_the_rubric_begins_with_the_mark_scheme(root):
    items = [(one["text"], one["points"]) for one in desk.question(root, TASK)["rubric"]]
    assert items == [
        ("It sees the next word.", 1.0),
        ("A test of a few lines.", 0.5),
        ("Not enough: overfitting.", 0.0),
    ]
    number = desk.add_item(root, TASK, "  Say it in your own words. ", None, "eve")
    desk.remove_item(root, TASK, desk.question(root, TASK)["rubric"][0]["id"], "eve")
    left = desk.question(root, TASK)["rubric"]
    assert [one["text"] for one in left] == [
        "A test of a few lines.",
        "Not enough: overfitting.",
        "Say it in your own words.",
    ]
    assert left[-1]["id"] == number and left[-1]["by"] == "eve"


def test_code_is_grouped_by_what_the_grader_named(root):
    groups = desk.question(root, CODE)["groups"]
    assert {group["label"] for group in groups} == {"right", "no diagonal"}
    assert "MARK SCHEME" not in str(groups)


def test_a_mark_for_many_is_in_the_gradebook_with_its_comment(root):
    items = desk.question(root, TASK)["rubric"]
    done = desk.set_marks(root, TASK, {"ada": 0, "ben": 0}, 1.5, "Well put.", [items[0]["id"]], "eve")
    assert done == {"done": ["ada", "ben"], "meanwhile": {}}
    assert grade(root, "ada") == (1.5, False, "It sees the next word.\nWell put.")
    assert grade(root, "chen")[1]
    found = desk.question(root, TASK)
    ada = answers(root)["ada"]
    assert (ada["by"], ada["score"], ada["waiting"], ada["chosen"]) == ("eve", 1.5, False, [items[0]["id"]])
    assert found["rubric"][0]["used"] == 2


def test_two_markers_do_not_overwrite_each_other(root):
    desk.set_marks(root, TASK, {"ada": 0}, 2, "", [], "eve")
    said = desk.set_marks(root, TASK, {"ada": 0, "ben": 0}, 0, "Overfitting.", [], "otto")
    assert said["done"] == ["ben"]
    theirs = said["meanwhile"]["ada"]
    assert (theirs["by"], theirs["score"]) == ("eve", 2)
    assert grade(root, "ada")[0] == 2
    with MarkingStore(root) as store:
        seen = store.marks(TASK)["ada"].id
    assert seen == theirs["version"]
    assert desk.set_marks(root, TASK, {"ada": seen}, 1, "", [], "otto")["done"] == ["ada"]
    assert grade(root, "ada")[0] == 1


def test_a_mark_by_hand_on_code_can_be_given_and_taken_back(root):
    desk.set_marks(root, CODE, {"chen": 0}, 1, "Half right.", [], "eve")
    assert grade(root, "chen", CODE) == (1, False, "Half right.")
    with MarkingStore(root) as store:
        seen = store.marks(CODE)["chen"].id
    desk.set_marks(root, CODE, {"chen": seen}, None, "", [], "eve")
    assert grade(root, "chen", CODE) == (0, False, None)


def test_a_mark_of_the_formgrader_is_not_overwritten_unseen(root):
    give_elsewhere(root, "ada", 0.5, "Nearly.")
    said = desk.set_marks(root, TASK, {"ada": 0}, 2, "", [], "otto")
    assert said["done"] == [] and said["meanwhile"]["ada"]["by"] == "the formgrader"
    assert grade(root, "ada") == (0.5, False, "Nearly.")
    shown = answers(root)["ada"]
    assert (shown["by"], shown["own"], shown["chosen"]) == ("formgrader", "Nearly.", [])
    assert desk.set_marks(root, TASK, {"ada": shown["version"]}, 2, "", [], "otto")["done"] == ["ada"]


def test_prose_is_rendered_and_nothing_in_it_runs(root, tmp_path):
    path = root / "autograded" / "ada" / UNIT / f"{UNIT}.ipynb"
    answer = "# Loud\n\n**Bold** <script>alert(1)</script> $x^2$ <img src=x onerror=alert(1)>"
    path.write_text(path.read_text().replace(TEXTS["ada"], answer.replace("\n", "\\n")))
    html = answers(root)["ada"]["html"]
    assert "<strong>Bold</strong>" in html and "<math" in html and "<strong>Loud" in html
    assert "script" not in html and "onerror" not in html and "<h1" not in html
    assert answers(root, CODE)["ada"]["html"] == ""


def test_the_history_has_everything_that_was_done(root):
    desk.set_marks(root, TASK, {"ada": 0}, 1, "Well put.", [], "eve")
    desk.add_item(root, TASK, "Say more.", 0.5, "otto")
    found = desk.history(root, TASK)
    assert {(one["kind"], one["by"], one["text"]) for one in found} == {
        ("mark", "eve", "Well put."),
        ("added", "otto", "Say more."),
    }


@pytest.mark.parametrize("score", [-1, 2.5])
def test_a_mark_outside_the_points_is_refused(root, score):
    with pytest.raises(BadMark, match="between 0 and 2"):
        desk.set_marks(root, TASK, {"ada": 0}, score, "", [], "eve")
    assert grade(root, "ada")[1]


def test_one_student_who_is_not_there_keeps_everything_as_it_was(root):
    with pytest.raises(BadMark, match="zoe has no graded submission"):
        desk.set_marks(root, TASK, {"ada": 0, "zoe": 0}, 1, "", [], "eve")
    assert grade(root, "ada")[1]
    with MarkingStore(root) as store:
        assert store.marks(TASK) == {}


def test_extensions_are_the_gradebooks(root):
    desk.extend(root, UNIT, "ben", 48)
    assert [row["hours"] for row in desk.extensions(root, UNIT)] == [0, 48, 0]
    desk.extend(root, UNIT, "ben", 0)
    assert [row["hours"] for row in desk.extensions(root, UNIT)] == [0, 0, 0]
    with pytest.raises(BadMark, match="zoe has not submitted 02-masks yet"):
        desk.extend(root, UNIT, "zoe", 1)


def test_what_is_no_course_and_no_question_is_said(tmp_path, root):
    with pytest.raises(BadMark, match=r"no nbgrader_config\.py"):
        desk.overview(tmp_path / "nothing")
    with pytest.raises(BadMark, match="no question task-none"):
        desk.question(root, TASK._replace(cell="task-none"))


CSS = f'<p style="color:{"rgb(" * 2400}1{")" * 2400}">my answer</p>'


def test_marking_page_blocked(root):
    """One answer's nested style raised RecursionError, and nobody's answers to the question could be opened."""
    for text in (CSS, "> " * 3000 + "my answer", "my answer" + "[" * 5000, "<b>" * 5000 + "my answer"):
        _answer(root, "ada", TASK.cell, text)
        found = answers(root)
        assert found.keys() == {"ada", "ben", "chen"} and "my answer" in found["ada"]["html"]


@pytest.mark.parametrize("code", ["x = " + "-" * 3000 + "1", "x = " + "-" * 20_000 + "1", "x = 1\n" * 200_000])
def test_marking_page_blocked_by_code(root, code):
    """The same with code whose syntax tree is deep or huge."""
    _answer(root, "ada", CODE.cell, code)
    assert answers(root, CODE).keys() == {"ada", "ben", "chen"}


def _answer(root, student, name, text):
    path = root / "autograded" / student / TASK.assignment / f"{TASK.notebook}.ipynb"
    nb = nbformat.read(path, as_version=4)
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells]
    at = names.index(name) + 1 if name == TASK.cell else names.index("solution-masks-causal")
    nb.cells[at].source = text
    nbformat.write(nb, path)
