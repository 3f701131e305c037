"""The marking page's questions, on a gradebook as nbgrader's commands leave it."""

import shutil

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.cluster.course import settings_of
from autograder.marking import desk
from autograder.marking.desk import BadMark
from autograder.marking.store import MarkedCell, MarkingStore
from autograder.nbgrader import config

UNIT = "02-masks"
TASK = MarkedCell(UNIT, UNIT, "task-why")
CODE = MarkedCell(UNIT, UNIT, "check-masks-causal")
SCHEME = (
    "- 1 point: it sees the next word.\n- 0.5 points: a test of a few lines.\n- Not enough: overfitting.\n- Related: x."
)
TEXTS = {"ada": "It sees the next word and copies it.", "ben": "It copies the next word, which it sees.", "chen": ""}
ASKED = "Your answer."


def cell(kind, source, name=None, **tfkit):
    made = (nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell)(source)
    made.metadata = {"nbgrader": {"grade_id": name}} if name else {}
    made.metadata |= {"tfkit": tfkit} if tfkit else {}
    return made


def notebook(answer, code, status, misconception, text=ASKED, scheme=""):
    verdict = {
        "exercise": "masks.causal",
        "status": status,
        "misconception": misconception,
        "reason": None,
        "hint": None,
    }
    cells = [
        cell("code", code, "solution-masks-causal"),
        cell("code", "check()", "check-masks-causal", role="check", verdict=verdict),
        cell("markdown", f"## Why?\n\nSay why.{scheme}", "task-why", role="task"),
        cell("markdown", answer or text),
        cell("markdown", "## Reading"),
    ]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture
def root(course, tmp_path):
    return shutil.copytree(course, tmp_path / "course")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("course")
    config.install(tmp_path)
    settings_of(tmp_path)  # puts alembic, which a new gradebook calls, on the path
    source = tmp_path / "source" / UNIT / f"{UNIT}.ipynb"
    source.parent.mkdir(parents=True)
    marks = f"\n\n### BEGIN MARK SCHEME\n{SCHEME}\n### END MARK SCHEME"
    nbformat.write(notebook("", "def causal_mask(n): ...", "passed", None, scheme=marks), source)
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}", "tfkit") as gradebook:
        gradebook.add_assignment(UNIT)
        gradebook.add_notebook(UNIT, UNIT)
        gradebook.add_grade_cell(CODE.cell, UNIT, UNIT, max_score=2, cell_type="code")
        gradebook.add_solution_cell("solution-masks-causal", UNIT, UNIT)
        gradebook.add_task_cell(TASK.cell, UNIT, UNIT, max_score=2, cell_type="markdown")
        for student, text in TEXTS.items():
            gradebook.add_student(student)
            gradebook.add_submission(UNIT, student)
            grade = gradebook.find_grade(CODE.cell, UNIT, UNIT, student)
            grade.auto_score = 0.0 if student == "chen" else 2.0
            grade.needs_manual_grade = False
            gradebook.find_grade(TASK.cell, UNIT, UNIT, student).needs_manual_grade = True
            path = tmp_path / "autograded" / student / UNIT / f"{UNIT}.ipynb"
            path.parent.mkdir(parents=True)
            wrong = ("failed", "no_diagonal") if student == "chen" else ("passed", None)
            nbformat.write(notebook(text, f"def causal_mask(n):\n    return {student}", *wrong), path)
        gradebook.db.commit()
    return tmp_path


def grade(root, student, of=TASK):
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "tfkit") as gradebook:
        found = gradebook.find_grade(of.cell, UNIT, UNIT, student)
        commented = of.cell if of is TASK else "solution-masks-causal"
        said = gradebook.find_comment(commented, UNIT, UNIT, student).manual_comment
        return found.score, found.needs_manual_grade, said


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


def test_the_bank_begins_with_the_mark_scheme(root):
    bank = [(one["text"], one["points"]) for one in desk.question(root, TASK)["bank"]]
    assert bank == [("It sees the next word.", 1.0), ("A test of a few lines.", 0.5), ("Not enough: overfitting.", 0.0)]
    number = desk.add_comment(root, TASK, "  Say it in your own words. ", None, "eve")
    desk.drop_comment(root, TASK, desk.question(root, TASK)["bank"][0]["id"])
    left = desk.question(root, TASK)["bank"]
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
    bank = desk.question(root, TASK)["bank"]
    done = desk.give(root, TASK, {"ada": 0, "ben": 0}, 1.5, "It sees the next word.", [bank[0]["id"]], "eve")
    assert done == {"done": ["ada", "ben"], "meanwhile": {}}
    assert grade(root, "ada") == (1.5, False, "It sees the next word.")
    assert grade(root, "chen")[1]
    found = desk.question(root, TASK)
    ada = next(one for group in found["groups"] for one in group["answers"] if one["student"] == "ada")
    assert (ada["by"], ada["score"], ada["waiting"], ada["chosen"]) == ("eve", 1.5, False, [bank[0]["id"]])
    assert found["bank"][0]["used"] == 2


def test_two_markers_do_not_overwrite_each_other(root):
    desk.give(root, TASK, {"ada": 0}, 2, "", [], "eve")
    said = desk.give(root, TASK, {"ada": 0, "ben": 0}, 0, "Overfitting.", [], "otto")
    assert said == {"done": ["ben"], "meanwhile": {"ada": "eve"}}
    assert grade(root, "ada")[0] == 2
    with MarkingStore(root) as store:
        seen = store.marks(TASK)["ada"].id
    assert desk.give(root, TASK, {"ada": seen}, 1, "", [], "otto")["done"] == ["ada"]
    assert grade(root, "ada")[0] == 1


def test_a_mark_by_hand_on_code_can_be_given_and_taken_back(root):
    desk.give(root, CODE, {"chen": 0}, 1, "Half right.", [], "eve")
    assert grade(root, "chen", CODE) == (1, False, "Half right.")
    with MarkingStore(root) as store:
        seen = store.marks(CODE)["chen"].id
    desk.give(root, CODE, {"chen": seen}, None, "", [], "eve")
    assert grade(root, "chen", CODE) == (0, False, None)


@pytest.mark.parametrize("score", [-1, 2.5])
def test_a_mark_outside_the_points_is_refused(root, score):
    with pytest.raises(BadMark, match="from 0 to 2"):
        desk.give(root, TASK, {"ada": 0}, score, "", [], "eve")
    assert grade(root, "ada")[1]


def test_one_student_who_is_not_there_keeps_everything_as_it_was(root):
    with pytest.raises(BadMark, match="zoe has nothing graded"):
        desk.give(root, TASK, {"ada": 0, "zoe": 0}, 1, "", [], "eve")
    assert grade(root, "ada")[1]
    with MarkingStore(root) as store:
        assert store.marks(TASK) == {}


def test_extensions_are_the_gradebooks(root):
    desk.extend(root, UNIT, "ben", 48)
    assert [row["hours"] for row in desk.extensions(root, UNIT)] == [0, 48, 0]
    desk.extend(root, UNIT, "ben", 0)
    assert [row["hours"] for row in desk.extensions(root, UNIT)] == [0, 0, 0]
    with pytest.raises(BadMark, match="zoe has not handed in 02-masks yet"):
        desk.extend(root, UNIT, "zoe", 1)


def test_what_is_no_course_and_no_question_is_said(tmp_path, root):
    with pytest.raises(BadMark, match=r"no nbgrader_config\.py"):
        desk.overview(tmp_path / "nothing")
    with pytest.raises(BadMark, match="no question task-none"):
        desk.question(root, TASK._replace(cell="task-none"))
