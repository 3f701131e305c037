"""`autograder lint`: for each thing that can be wrong with a unit, a unit that has it and is told so in one line."""

from __future__ import annotations

import copy
import shutil
from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.preprocessors import ClearMarkScheme, ClearSolutions

from autograder.api import Limits
from autograder.cli import main
from autograder.cluster.bundle import ReleasedNotebook
from autograder.exercises import registry
from autograder.lint import graded, notebook, release
from autograder.nbgrader import config
from autograder.nbgrader.rebuild import GradebookCell
from course.build import build

UNIT = "02-masks"
RIGHT = """def causal_mask(length):
    ### BEGIN SOLUTION
    rows = torch.arange(length)[:, None]
    columns = torch.arange(length)[None, :]
    return columns <= rows
    ### END SOLUTION"""
SCHEME = "Why?\n\n### BEGIN MARK SCHEME\n- 1 point: because of the future\n- 1 point: because\n### END MARK SCHEME"


def marked(grade_id, **flags):
    marks = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": marks | {"grade_id": grade_id} | flags}


def code(text, name, **flags):
    return new_code_cell(text, id=name, metadata=marked(name, **flags) if flags else {})


def unit(answer=RIGHT, *more):
    """A unit of one exercise, `masks.causal`, and a question."""
    nb = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}})
    nb.cells = [  # not by new_notebook, which repairs repeated ids
        code("import torch", "setup-1", locked=True),
        code(answer, "solution-masks-causal", solution=True),
        code('check("masks.causal")', "check-masks-causal", grade=True, locked=True, points=2.0),
        new_markdown_cell(SCHEME, id="task-why", metadata=marked("task-why", task=True, locked=True, points=2)),
        *more,
    ]
    return nb


def changed(name, **marks):
    """The unit with other marks on one cell."""
    nb = unit()
    (cell,) = [cell for cell in nb.cells if cell.id == name]
    cell.metadata.nbgrader.update(marks)
    return nb


# -- what is seen by reading -------------------------------------------------------------------------------------------
def test_a_unit_in_order_has_no_fault():
    assert notebook.faults(UNIT, unit()) == []
    assert notebook.points(unit()) == 4


READ = {
    "2 cells have the grade id 'setup-1'": unit(RIGHT, new_code_cell("1", id="b", metadata=marked("setup-1"))),
    "2 cells have this id": unit(RIGHT, code("1", "setup-1")),
    "the grade id 'set up' is invalid": changed("setup-1", grade_id="set up"),
    "its points are -1": changed("check-masks-causal", points=-1),
    "its points are None": changed("task-why", points=None),
    "is worth 3 points, but its mark scheme gives 2": changed("task-why", points=3),
    "must have the grade id check-masks-causal": changed("check-masks-causal", grade_id="check-other"),
    "no cell solution-masks-causal": changed("solution-masks-causal", grade_id="answer"),
    "line 1 does not parse": unit("def causal_mask(:"),
    "no installed course has the exercise 'masks.nothing'": unit(
        RIGHT, code('check("masks.nothing")', "check-masks-nothing", grade=True, locked=True, points=1)
    ),
    "the answer to masks.padding is worth nothing": unit(RIGHT, code("x = 1", "solution-masks-padding", solution=True)),
}


JUDGE = "import torch\nfrom torch.testing import assert_close\ndef near(a, b):\n    return a == b"
LEANS = "assert_close(causal_mask(3), torch.ones(3).tril())\nassert near(1, 1)"
LEANING = code(LEANS, "own", grade=True, locked=True, points=1)


def test_a_test_that_leans_on_a_cell_which_students_can_change_is_named():
    found = list(map(str, notebook.faults(UNIT, unit(RIGHT, code(JUDGE, "free"), LEANING))))
    why = "which students can edit: lock that cell, or import it in the test"
    assert found == [f"02-masks, cell own: uses {name!r} from cell free, {why}" for name in ("assert_close", "near")]
    assert not notebook.faults(UNIT, unit(RIGHT, code(JUDGE, "free", locked=True), LEANING))
    released = f"{JUDGE}\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION"
    answer = code(released, "answer", solution=True)
    assert notebook.faults(UNIT, unit(RIGHT, answer, LEANING)) == []  # grading takes it from the release


@pytest.mark.parametrize("what", READ)
def test_what_reading_shows_is_named(what):
    found = notebook.faults(UNIT, READ[what])
    assert any(what in fault.summary for fault in found), found
    assert all("\n" not in str(fault) and str(fault).startswith("02-masks, cell ") for fault in found)


# -- what must not be released -----------------------------------------------------------------------------------------
def released(nb, tmp_path, **files):
    after, _ = ClearSolutions().preprocess(copy.deepcopy(nb), {})
    after, _ = ClearMarkScheme().preprocess(after, {})
    for name, text in files.items():
        (tmp_path / name.replace("_", ".")).write_text(text)
    return release.Release({UNIT: nb}, {UNIT: after}, {}, sorted(tmp_path.iterdir()), 4.0)


BODY = "\n".join(RIGHT.splitlines()[2:5])
TESTS = "### BEGIN HIDDEN TESTS\nassert 1\n### END HIDDEN TESTS"
HIDDEN = {
    "demo-1: shows hidden lines of solution-masks-causal ('rows = ": code(BODY.replace("    ", ""), "demo-1"),
    "text-9: shows hidden lines of solution-masks-causal": new_markdown_cell(f"```python\n{BODY}\n```", id="text-9"),
    "mine: still has the line 'BEGIN HIDDEN TESTS'": code(TESTS, "mine"),
}


@pytest.mark.parametrize("what", HIDDEN)
def test_hidden_text_elsewhere_in_the_release_is_named(what, tmp_path):
    found = [f"{cell}: {said}" for cell, said in release.leaks(released(unit(RIGHT, HIDDEN[what]), tmp_path))]
    assert any(what in line for line in found), found


def test_files_that_are_not_for_students_are_named(tmp_path):
    made = released(unit(), tmp_path, solution_py=RIGHT, course_key="x", data_txt="1 2 3")
    found = [what for _, what in release.leaks(made)]
    assert len(found) == 4, found
    assert any("course.key would be released" in what for what in found)
    assert any("solution.py shows hidden lines of solution-masks-causal" in what for what in found)


def test_a_release_in_order_hides_all(tmp_path):
    use = code("mask = causal_mask(4)\nprint(mask)\nassert mask.shape == (4, 4)", "demo-1")
    assert list(release.leaks(released(unit(RIGHT, use), tmp_path))) == []


# -- what running shows ------------------------------------------------------------------------------------------------
def run(nb, stub=False):
    """Graded as the solution, or as what is released of it."""
    after, _ = ClearSolutions().preprocess(copy.deepcopy(nb), {})
    cells = []
    for cell in after.cells:
        if m := cell.metadata.get("nbgrader"):
            flags = (m.locked, m.grade, m.solution, m.task, m.get("points"))
            cells.append(GradebookCell(m.grade_id, cell.cell_type, cell.source, "", *flags))
    return graded.GradedNotebook(
        after if stub else nb, ReleasedNotebook(tuple(cells)), {"BoxedExecute": {"device": "cpu"}}, UNIT
    )


def test_a_unit_in_order_runs():
    made = code('predictions_made("02.causal")', "predictions", grade=True, locked=True, points=1.0)
    asked = code('questions_answered("masks.causal")', "questions", grade=True, locked=True, points=1.0)
    whole = unit(RIGHT, made, asked)
    stub, solution, twice = run(whole, stub=True), run(whole), run(graded.paste_cells(whole))
    assert list(graded.stub_faults(stub)) == []
    assert list(graded.solution_faults(solution, Limits())) == []
    assert list(graded.pasted_faults(twice, solution)) == []
    assert nbformat.validate(graded.paste_cells(unit())) is None
    ((name, what),) = graded.solution_faults(solution, Limits(wall_s=0.01))
    assert name == "masks.causal" and "s of the 0.01 s" in what


def test_the_work_of_a_solution_is_timed_and_not_its_wait():
    slow = "import time\ntime.sleep(3)\nwhile time.process_time() < 1: pass  # the box's own, from its start\n\n\n"
    _, plain, slower = (run(unit(answer)).seconds["masks.causal"] for answer in (RIGHT, RIGHT, slow + RIGHT))
    assert 0.5 < slower - plain < 2.5, (plain, slower)


def test_a_stub_that_stops_and_one_that_earns_points():
    unmarked = RIGHT.replace("### BEGIN SOLUTION", "#").replace("### END SOLUTION", "#")
    ((cell, what),) = graded.stub_faults(run(unit(unmarked), stub=True))  # nbgrader takes the whole cell, `def` and all
    assert cell == "solution-masks-causal" and "stops with NotImplementedError" in what
    outside = "def causal_mask(length):\n    return torch.ones(length, length).tril().bool()\n\n\n" + RIGHT.replace(
        "def causal_mask", "def helper"
    )
    ((cell, what),) = graded.stub_faults(run(unit(outside), stub=True))
    assert (cell, what) == ("masks.causal", "the stub earns 2 of 2 points: make its checks stricter")


def test_a_solution_that_is_wrong():
    ((cell, what),) = graded.solution_faults(run(unit(RIGHT.replace("<=", "<"))), Limits())
    assert cell == "masks.causal" and what.startswith("the solution gets 1.4 of 2 points: ") and "\n" not in what


def test_a_cell_that_cannot_be_pasted():
    counts = "try:\n    count += 1\nexcept NameError:\n    count = 0\n\n\n" + RIGHT.replace("rows\n", "rows + count\n")
    ((cell, what),) = graded.pasted_faults(run(graded.paste_cells(unit(counts))), run(unit(counts)))
    assert cell == "masks.causal" and what.startswith("passes, but not after every cell was copied and pasted")


def test_a_wrong_answer_that_passes_and_none_at_all(tmp_path):
    exercise = registry.find("masks.causal")
    own = replace(exercise, folder=shutil.copytree(exercise.folder, tmp_path / UNIT))
    answers = own.folder / "submissions" / own.id
    (answers / "wrong.toml").unlink()
    ((cell, what),) = graded.corpus_faults(own)
    assert cell == own.id and "no wrong answer" in what
    (answers / "wrong").mkdir()
    shutil.copy(next((answers / "right").glob("*.py")), answers / "wrong" / "no_mistake.py")
    assert list(graded.corpus_faults(own)) == [(own.id, "wrong/no_mistake passes")]


# -- the command -------------------------------------------------------------------------------------------------------
@pytest.fixture
def course(tmp_path):
    config.install(tmp_path)
    build(tmp_path, [UNIT])
    return tmp_path


def lint(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(["lint", *map(str, arguments)])
    captured = capsys.readouterr()
    return end.value.code, captured.out + captured.err


def test_the_command_finds_nothing_in_a_unit_of_ours(course, capsys):
    status, said = lint(capsys, course, UNIT)
    assert status == 0 and said.endswith("no faults\n"), said
    assert f"{UNIT}: 4 checks, " in said
    assert not (course / "gradebook.db").exists() and not (course / "release").exists()


def test_the_command_names_what_nbgrader_refuses(course, capsys):
    path = course / "source" / UNIT / f"{UNIT}.ipynb"
    nb = nbformat.read(path, as_version=4)
    nb.cells.append(code("1", "again", locked=True))
    nb.cells[-1].metadata.nbgrader.grade_id = "setup-1"
    nbformat.write(nb, path)
    status, said = lint(capsys, course)
    assert status == 1 and said.endswith("2 faults\n"), said
    assert "✗ 02-masks, cell setup-1: 2 cells have the grade id" in said
    assert "✗ 02-masks, cell -: nbgrader cannot release it: " in said


def test_what_cannot_be_linted_is_said_in_a_line(course, capsys):
    status, said = lint(capsys, course, "99-none")
    assert status == 2 and said.count("\n") == 1 and "there is no notebook in" in said
    status, said = lint(capsys, course / "source")
    assert status == 2 and said.count("\n") == 1 and "has no nbgrader_config.py" in said


def test_own_tests_that_pass_without_an_answer_are_named():
    """A test that asks only whether something came back, beside one that compares values."""
    weak = code(
        "out = causal_mask(3)\nassert out is None or out is not None", "weak", grade=True, locked=True, points=1
    )
    says = code("assert causal_mask(3)", "says", grade=True, locked=True, points=1)
    sound = code("assert torch.equal(causal_mask(3), torch.ones(3, 3).tril() > 0)", "sound", grade=True, locked=True,
                 points=1)  # fmt: skip
    nb = unit(RIGHT)
    nb.cells = [*nb.cells[:2], weak, says, sound]
    known = ReleasedNotebook(tuple(_known(cell) for cell in nb.cells), None)
    found = []
    for what, hostile in graded.hostile_notebooks(nb):
        made = graded.GradedNotebook(hostile, known, {}, UNIT)
        found += [(cell, what) for cell, _ in graded.hostile_faults(made, what, graded.own_tests_of(made.nb))]
    assert set(found) == {("says", "True"), *(("weak", what) for what in graded.HOSTILE)}


def _known(cell):
    mark = cell.metadata.nbgrader
    return GradebookCell(mark.grade_id, cell.cell_type, cell.source, "0" * 32, mark.locked, mark.grade, mark.solution,
                         False, mark.get("points"))  # fmt: skip
