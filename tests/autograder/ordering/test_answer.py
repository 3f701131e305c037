"""An order of lines that is handed in in the place of code earns a share of the points, as its program deserves."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from autograder.checking import notebook as checking
from autograder.checks.probe import questions
from autograder.checks.reference import reference_of
from autograder.exercises import registry
from autograder.exercises.contracts import full_id, with_adapter, with_contract
from autograder.exercises.variants import student_name
from autograder.grade.run import CellSource, grade_notebook
from autograder.ordering import notebook
from autograder.ordering.answer import WRITTEN, HandedInOrder, program_of, read_answer, with_programs
from autograder.ordering.make import has_puzzle, make
from autograder.ordering.notebook import NotebookPuzzle, OrderFailed
from autograder.ordering.prove import passes, write_order
from autograder.ordering.words import task
from autograder.sandbox import choose
from autograder.settings import points

MASKS = registry.find("masks.decoder")
PUZZLE = make(MASKS, "ada")
RIGHT = write_order(PUZZLE.right)
CALL = 'from autograder import order\n\norder("masks.decoder").hand_in("{}")\n'


def graded(cell: str, ordered: float, exercise=MASKS, student="ada"):
    earlier = "from tfkit.nn.masks import causal_mask, padding_mask\nimport torch"
    cells = [
        {"cell_type": "code", "id": mark["role"], "metadata": {"tfkit": mark}, "source": source, "outputs": []}
        for mark, source in (({"role": "setup"}, earlier), ({"role": "exercise", "exercise": exercise.id}, cell))
    ]
    (found,) = grade_notebook({"cells": cells}, [exercise], backend=choose(), device="cpu", student=student,
                              ordered=ordered)  # fmt: skip
    return found


def test_a_right_order_earns_the_share_and_says_so():
    found = graded(CALL.format(RIGHT), 0.25)
    assert (found.status, found.score, found.max_score) == ("passed", 0.25 * MASKS.points, MASKS.points)
    assert sum(one.points for one in found.checks) == pytest.approx(found.score)
    assert sum(one.of for one in found.checks) == pytest.approx(MASKS.points)
    told = "Its lines were put in order, and not written: that earns at most 25 % of the points."
    assert [(one.message, one.points, one.of) for one in found.checks if one.name == WRITTEN] == [(told, 0.0, 0.75)]


def test_code_earns_all_and_an_order_nothing_where_the_course_takes_none():
    code = PUZZLE.program(PUZZLE.right)
    found = graded(code, 0.25)
    assert (found.status, found.score) == ("passed", MASKS.points)
    assert not [one for one in found.checks if one.name == WRITTEN]
    assert graded(CALL.format(RIGHT), 0.0).score == 0.0


def test_another_students_order_is_an_order_of_other_lines():
    other = next(f"student{n}" for n in range(9) if make(MASKS, f"student{n}").lines != PUZZLE.lines)
    assert graded(CALL.format(RIGHT), 0.5, student=other).status == "failed"
    own = write_order(make(MASKS, other).right)
    assert graded(CALL.format(own), 0.5, student=other).score == 0.5 * MASKS.points


def test_an_order_under_a_contract_has_its_form():
    exercise = with_contract(MASKS, "hidden")
    puzzle = make(exercise, "ada")
    called = CALL.replace("decoder", "decoder@hidden").format(write_order(puzzle.right))
    found = graded(called, 0.5, exercise)
    assert (found.status, found.score) == ("passed", 0.5 * MASKS.points)
    assert task(puzzle)["exercise"] == "masks.decoder@hidden"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('order("a.b").hand_in("2 1")', HandedInOrder("a.b", "2 1")),
        ('order("a.b", seed=3, student="ada").hand_in("1")', HandedInOrder("a.b", "1", 3, "ada")),
        ('# mine\nfrom autograder import order\norder("a.b").hand_in("1")', HandedInOrder("a.b", "1")),
        ('order("a.b").hand_in("1")\nx = 1', None),
        ('order("a.b").hand_in(read())', None),
        ('order("a.b", seed=f()).hand_in("1")', None),
        ('import os\norder("a.b").hand_in("1")', None),
        ('order("a.b").check("1")', None),
        ("hand_in(", None),
    ],
)
def test_only_a_call_with_plain_values_is_read(text, found):
    assert read_answer(text) == found


@pytest.mark.parametrize("order", ["", "99", "1 1", "x", "1:99"])
def test_what_is_no_order_of_these_lines_is_left_as_it_is(order):
    source = CellSource("own", CALL.format(order), MASKS.id)
    assert with_programs([source], [MASKS], "ada") == ([source], frozenset())


def test_only_the_cell_of_the_exercise_itself_counts():
    source = CellSource("own", CALL.format(RIGHT), MASKS.id)
    for other in (replace(source, exercise=None), replace(source, exercise="masks.causal")):
        assert with_programs([other], list(registry.exercises()), "ada") == ([other], frozenset())
    (made,), ordered = with_programs([source], [MASKS], "ada")
    assert made.text == PUZZLE.program(PUZZLE.right) and ordered == {MASKS.id}


@pytest.fixture
def taken(tmp_path, monkeypatch):
    """A kernel whose notebook takes an order for this exercise alone."""
    file = tmp_path / "02.ipynb"
    file.write_text(json.dumps({"metadata": {"tfkit": {"ordered": {"share": 0.5, "exercises": [MASKS.id]}}}}))
    monkeypatch.setenv("JPY_SESSION_NAME", str(file))
    shell = SimpleNamespace(user_ns={}, kernel=None)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    return shell


def test_a_right_order_defines_the_function_in_the_notebook_and_says_what_it_earns(taken, monkeypatch):
    shown = NotebookPuzzle(task(PUZZLE), [], "ada")
    said = {"exercise": MASKS.id, "status": "passed", "sentences": ["Now write it."], "checks": [], "sandbox": ""}
    monkeypatch.setattr(notebook, "ask", lambda *_: said)
    found = shown.hand_in(RIGHT)
    assert callable(taken.user_ns["decoder_mask"]) and "it earns at most 50 % of the points" in repr(found)
    assert "Your order is right" in repr(found) and "Now write it" not in repr(found)
    wrong = NotebookPuzzle(task(PUZZLE) | {"exercise": "masks.softmax"}, [], "ada")
    with pytest.raises(OrderFailed, match="takes no order of lines as the answer to masks.softmax"):
        wrong.hand_in(RIGHT)


def test_where_the_notebook_cannot_be_read_it_says_what_counts(taken, monkeypatch):
    """Jupyter tells its kernels where the notebook is; other front ends do not."""
    monkeypatch.delenv("JPY_SESSION_NAME")
    said = {"exercise": MASKS.id, "status": "failed", "sentences": ["No."], "checks": [], "sandbox": ""}
    monkeypatch.setattr(notebook, "ask", lambda *_: said)
    found = NotebookPuzzle(task(PUZZLE), [], "ada").hand_in(RIGHT)
    assert "No." in repr(found) and "if the notebook says that orders count" in repr(found)
    assert "decoder_mask" not in taken.user_ns


def test_a_notebooks_check_is_about_the_program_of_the_order():
    own = write_order(make(MASKS).right)
    (cell,) = checking._cells([CALL.format(own)])
    assert cell["source"] == program_of(CALL.format(own), MASKS, student_name())
    unknown = CALL.format(own).replace("masks", "no_such")
    assert checking._cells([unknown])[0]["source"] == unknown


def test_the_share_of_a_course_is_read_and_checked(tmp_path):
    path = tmp_path / points.FILE
    assert points.ordered_setting(path) == 0.0
    path.write_text("[grading]\nordered = 0.5\n")
    assert points.check_ordered(points.ordered_setting(path), "here") == 0.5
    path.write_text("[grading]\nordered = 50\n")
    with pytest.raises(points.BadShare, match="a number above 0 and at most 1"):
        points.check_ordered(points.ordered_setting(path), "here")
    for given in (True, "half", -1, 2):
        with pytest.raises(points.BadShare, match="^here is"):
            points.check_ordered(given, "here")


CONTRACTS = [full_id(with_contract(one, its.name)) for one in registry.exercises() for its in one.contracts]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CONTRACTS)
def test_the_right_order_under_a_contract_passes_and_distractors_do_not(name):
    exercise = registry.find(name)
    if not has_puzzle(exercise):
        pytest.skip("the answer has too few lines to put in order")
    puzzle = make(exercise, "ada")
    asked = list(questions(registry.check_function(exercise)(), reference_of(exercise), f"0/{exercise.id}"))
    assert passes(with_adapter(exercise, puzzle.program(puzzle.right)), asked)
    wrong = [puzzle.with_mistake(number) for number, line in enumerate(puzzle.lines, 1) if line.mistake]
    assert wrong and not any(passes(with_adapter(exercise, puzzle.program(order)), asked) for order in wrong)
