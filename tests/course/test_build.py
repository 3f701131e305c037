"""The build: every notebook valid, the same bytes each time, solutions where nbgrader finds them and nowhere else."""

from __future__ import annotations

import ast
import copy
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from ipykernel.ipkernel import IPythonKernel
from nbgrader.apps import NbGraderAPI
from nbgrader.preprocessors import ClearSolutions
from traitlets.config import Config

import course
from autograder.exercises import registry
from autograder.exercises.contracts import draw_contract
from autograder.hunts import make, pages
from autograder.ordering.make import has_puzzle
from course import build as builder
from course.notebook import ANSWER, SCHEME, source_notebook
from course.settings import LessonError, unit_names
from course.settings import read as read_settings
from course.solution import _module_source, solution
from tfkit_lab.lesson import questions_in

TASK = '# %% [markdown] role="task"'
MARKS = "# ### BEGIN MARK SCHEME\n# - because\n# ### END MARK SCHEME\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    return folder, builder.build(folder)


def read(one):
    return nbformat.read(one.path, as_version=4)


def test_builds_every_unit_of_the_course(built):
    assert [one.path.stem for one in built[1]] == unit_names() == [unit.name for unit in course.units()]
    for one in built[1]:
        nbformat.validate(read(one))


def test_each_unit_after_the_first_opens_with_questions_on_all_before_it_below_its_set_up(built):
    names = unit_names()
    for place, one in enumerate(built[1]):
        cells = read(one).cells
        asking = [n for n, cell in enumerate(cells) if cell.metadata.get("tfkit", {}).get("role") == "recall"]
        if place == 0:
            assert asking == []
            continue
        (at,) = asking
        call = ast.parse(cells[at].source).body[1].value
        named = [ast.literal_eval(part) for part in (call.args[0], call.keywords[0].value)]
        assert named == [names[place], names[:place]] and "nbgrader" not in cells[at].metadata
        assert cells[at - 1].source.startswith("## Questions from before")
        assert {cell.cell_type for cell in cells[1 : at - 1]} == {"code"} and cells[at + 1].cell_type == "markdown"


def test_a_course_can_leave_the_questions_out_and_a_track_asks_on_its_own_units(tmp_path):
    entry = '[[unit]]\nname = "02-masks"\n[[unit]]\nname = "03-heads"\n'
    (tmp_path / "course.toml").write_text(entry)
    asks = [unit.earlier for unit in read_settings(tmp_path)]
    assert asks == [(), ("02-masks",)]
    (tmp_path / "course.toml").write_text(f"recall = false\n{entry}")
    _, without = read_settings(tmp_path)
    assert without.earlier == ()
    assert "recall" not in [cell.id for cell in source_notebook(course.UNITS / "03-heads", without).cells]


def test_predictions_ask_how_sure_one_is_where_the_course_wants_it(tmp_path):
    (tmp_path / "course.toml").write_text('sure = true\n[[unit]]\nname = "03-heads"\n')
    (asking,) = read_settings(tmp_path)
    cells = {cell.id: cell.source for cell in source_notebook(course.UNITS / "03-heads", asking).cells}
    asked = [source for name, source in cells.items() if name.startswith("predict-")]
    assert asked and all(source.endswith("sure=True)") and questions_in(source) for source in asked)
    assert cells["sure"].endswith("predict.curve()")
    other = source_notebook(course.UNITS / "03-heads", replace(asking, sure=False)).cells
    assert not any("sure" in cell.source for cell in other if cell.id.startswith("predict-")), "not asked by default"
    assert "sure" not in [cell.id for cell in other]


def test_each_exercise_has_its_cell_its_check_and_its_points(built):
    points = {}
    for one in built[1]:
        cells = read(one).cells
        for cell, after in zip(cells, cells[1:], strict=False):
            marks = cell.metadata.get("tfkit", {})
            if marks.get("role") == "exercise":
                name = marks["exercise"]
                assert after.source == f'from autograder import check\n\ncheck("{name}")'
                assert after.metadata.tfkit.exercise == name
                assert cell.metadata.nbgrader.solution and not cell.metadata.nbgrader.grade
                points[name] = after.metadata.nbgrader.points
    assert points == {exercise.id: exercise.points for exercise in course.exercises()}


def test_the_notebook_names_its_exercises_so_that_a_lost_cell_is_missed(built):
    for one in built[1]:
        found = read(one)
        roles = [cell.metadata.get("tfkit", {}) for cell in found.cells]
        assert found.metadata.language_info == IPythonKernel.language_info  # JupyterLab has nothing to add
        assert found.metadata.tfkit.exercises == [r["exercise"] for r in roles if r.get("role") == "exercise"]
        titles = {exercise.id: exercise.title for exercise in course.exercises()}
        assert found.metadata.tfkit.titles == {name: titles[name] for name in found.metadata.tfkit.exercises}


def test_every_prediction_is_asked_and_survives_the_release(built):
    for one in built[1]:
        notebook = read(one)
        cells = [cell for cell in notebook.cells if cell.metadata.get("tfkit", {}).get("role") == "predict"]
        assert notebook.metadata.tfkit.predictions == [cell.metadata.tfkit.prediction for cell in cells] != []
        released, _ = ClearSolutions().preprocess(copy.deepcopy(notebook), {})
        assert [cell.source for cell in released.cells if cell.id.startswith("predict-")] == [c.source for c in cells]


def test_cell_ids_are_unique_and_only_graded_roles_are_nbgraders(built):
    for one in built[1]:
        cells = read(one).cells
        assert len({cell.id for cell in cells}) == len(cells)
        for cell in cells:
            role = cell.metadata.get("tfkit", {}).get("role")
            graded = ("setup", "exercise", "check", "task", "project", "hunt-answer")
            assert ("nbgrader" in cell.metadata) == (role in graded), cell.id


@pytest.mark.parametrize(
    "unit, number",
    [*((name, 1) for name in unit_names()[1:]), *(("18-debugging-transformers", n) for n in (2, 3))],
)
def test_a_hunt_is_handed_in_and_its_release_names_no_fault(built, unit, number):
    (one,) = [one for one in built[1] if one.path.stem == unit]
    hunts = [cell for cell in read(one).cells if cell.id.startswith("hunt")]
    shown, answer, verdict = hunts[3 * number - 3 : 3 * number]
    tail = "" if number == 1 else f"_{number}"
    (name,) = re.findall(r'hunt\("(.+)", seed=\d+, student="' + unit, shown.source)
    assert shown.source.endswith(f"\nfaulty{tail}") and answer.metadata.nbgrader.solution
    assert verdict.source.startswith(f"faulty{tail}.hand_in(suspected_lines{tail}, test_")
    released, _ = ClearSolutions().preprocess(nbformat.v4.new_notebook(cells=[copy.deepcopy(answer)]), {})
    _only_stubs(released.cells[0].source)
    seed = int(re.findall(r"seed=(\d+)", shown.source)[0])
    of_page = name.startswith("page.")
    found = pages.draw_page_hunt(name, unit, seed) if of_page else make.draw(registry.find(name), unit, seed)
    space = {f"faulty{tail}": found}
    exec(answer.source, space)
    assert space[f"repaired_code{tail}"]() == found.repair
    assert set(space[f"suspected_lines{tail}"]()) == set(found.fault_lines[0])
    assert not any(fault in shown.source + released.cells[0].source + verdict.source for fault in found.names)


def test_each_unit_asks_a_question_that_a_person_marks(built):
    for one in built[1]:
        cells = read(one).cells
        (task,) = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("task")]
        assert task.cell_type == "markdown" and "point" in task.source.partition(SCHEME[0])[2]
        assert task.metadata.nbgrader == {
            "grade": False, "grade_id": task.id, "locked": True, "points": 2, "schema_version": 3, "solution": False,
            "task": True,
        }  # fmt: skip
        answer = cells[cells.index(task) + 1]
        assert answer.source == ANSWER and "nbgrader" not in answer.metadata


def test_a_second_build_writes_nothing(built):
    folder, first = built
    bytes_before = {one.path: (one.path.read_bytes(), one.path.stat().st_mtime_ns) for one in first}
    again = builder.build(folder)
    assert not any(one.changed for one in again)
    assert bytes_before == {one.path: (one.path.read_bytes(), one.path.stat().st_mtime_ns) for one in again}


class WithoutTypes(ast.NodeTransformer):
    """Types are for who reads the library: cells do not import what they are written with."""

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node):
        return ast.Assign([node.target], node.value, lineno=node.lineno)


def test_the_solution_is_the_librarys_own_source():
    for exercise in course.exercises():
        text = solution(exercise)
        tree = ast.parse(text)
        assert [node.name for node in tree.body] == list(exercise.symbols)
        plain = "\n".join(line for line in text.splitlines() if "### " not in line)
        for reference in exercise.references:
            module, _, symbol = reference.partition(":")
            library = ast.parse(_module_source(module)).body
            (node,) = [n for n in library if getattr(n, "name", None) == symbol]
            node = WithoutTypes().visit(node)
            assert ast.unparse(node) in ast.unparse(ast.parse(plain))


def test_release_has_no_solution_and_its_stubs_raise(built, tmp_path, monkeypatch):
    # nbgrader calls alembic by name
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    source, _ = built
    shutil.copytree(source / "source", tmp_path / "source")
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.db_url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    api = NbGraderAPI(config=config)
    for name in unit_names():
        result = api.generate_assignment(name)
        assert result["success"], result.get("log") or result.get("error")
        released = nbformat.read(tmp_path / "release" / name / f"{name}.ipynb", as_version=4)
        for cell in released.cells:
            assert "BEGIN SOLUTION" not in cell.source and "MARK SCHEME" not in cell.source
            if cell.metadata.get("tfkit", {}).get("role") in ("exercise", "hunt-answer"):
                _only_stubs(cell.source)


def _only_stubs(text):
    """Every function of the released cell does nothing but raise, after a docstring or `super().__init__()`."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert functions
    for function in functions:
        *before, last = [ast.unparse(statement) for statement in function.body]
        assert last.startswith("raise NotImplementedError"), text
        assert all(line == "super().__init__()" or line[0] in "'\"" for line in before), text


@pytest.mark.parametrize(
    "lesson, message",
    [
        ("# %%\nx = 1\n", "role"),
        ('# %% role="exercise" exercise="no.such"\n', "not an exercise of this unit"),
        ('# %% role="exercise" exercise="masks.causal"\nx = 1\n', "must be empty"),
        ("# %% [markdown]\n# words only\n", "has no exercise cell for masks.causal"),
        ('# %% role="predict"\npredict("02.a")\n', "never compares 02.a"),
        ('# %% role="predict"\npredict("02.a")\n\n' * 2, "is used twice"),
        ('# %% role="predict"\npredict("03.a")\n', "must be one call"),
        ('# %% role="hunt" hunt="masks.causal"\ndef test_it(answer):\n    pass\n', "needs a hunt and a seed"),
        ('# %% role="hunt" hunt="masks.casual" seed=1\ndef test_it(answer):\n    pass\n', "no exercise is called"),
        ('# %% role="hunt" hunt="masks.causal" seed=1\nx = 1\n', "must be one function"),
        (f"{TASK}\n# Why?\n{MARKS}", "needs a task and points on its line"),
        (f'{TASK} task="why" points="two"\n# Why?\n{MARKS}', "'why' needs a task"),
        (f'{TASK} task="why" points=2\n# Why?\n', "'why' needs one mark scheme"),
        (f'{TASK} task="why" points=2\n# Why?\n{MARKS}\n' * 2, "'why' is used twice"),
    ],
)
def test_a_faulty_lesson_is_named_in_one_line(tmp_path, lesson, message):
    folder = tmp_path / "02-masks"
    folder.mkdir()
    (folder / "lesson.py").write_text(lesson)
    with pytest.raises(LessonError, match=message) as error:
        source_notebook(folder)
    assert "\n" not in str(error.value)


def test_an_unknown_unit_ends_the_command_with_one(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        builder.main([str(tmp_path), "--unit", "99-none"])
    assert stop.value.code == 1 and "99-none" in capsys.readouterr().err


def test_what_was_built_and_what_was_written_begin_as_the_user_wrote_the_directory(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in ("my-course", str(tmp_path / "other")):
        assert builder.main([given, "--unit", "02-masks"]) == 0
        lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
        assert {word for word, _ in lines} == {"built", "wrote"}
        assert all(path.startswith(f"{given}/") for _, path in lines), lines


def test_a_group_gets_its_contracts_and_the_rest_of_the_notebook_the_courses(tmp_path):
    def cells(group):
        unit = next(one for one in read_settings(tmp_path) if one.name == "02-masks")
        made = source_notebook(course.UNITS / "02-masks", replace(unit, variants=group))
        return {cell.id: cell for cell in made.cells}

    with_it = next(f"group {n}" for n in range(20) if draw_contract(registry.find("masks.causal"), f"group {n}"))
    own, usual = cells(with_it), cells("")
    assert "True hides a key" in own["contract-masks-causal"].source
    assert "Your contract: In the mask that you return, True hides" in own["solution-masks-causal"].source
    assert 'check("masks.causal@hidden")' in own["check-masks-causal"].source
    form = own["course-form-masks-causal"]
    assert form.metadata.nbgrader["locked"] and form.source.startswith("# From here on in the form of the course")
    assert not any("contract-" in name or "course-form-" in name for name in usual)
    assert usual["check-masks-causal"].metadata == own["check-masks-causal"].metadata  # one column of marks


def test_a_course_that_takes_an_order_of_lines_says_in_which_exercises_and_for_what(tmp_path):
    text = '[[unit]]\nname = "02-masks"\n[grading]\nordered = 0.5\n'
    (tmp_path / "course.toml").write_text(text)
    made = nbformat.read(builder.build(tmp_path, language="fr")[0].path, as_version=4)
    told = next(cell.source for cell in made.cells if cell.id == "ordered-text")
    ids = made.metadata.tfkit.ordered.exercises
    assert made.metadata.tfkit.ordered.share == 0.5 and "masks.decoder" in ids
    assert all(has_puzzle(registry.find(name)) for name in ids) and f'order("{ids[0]}").hand_in("3 1 2:1")' in told
    assert told.endswith(", ".join(f"`{name}`" for name in ids) + ": 50 %")
    assert "## Des lignes en ordre" in told and "Si vous êtes bloqué" in told
    (tmp_path / "course.toml").write_text('variants = "2026"\nvariants_for = "student"\n' + text)
    made = nbformat.read(builder.build(tmp_path)[0].path, as_version=4)
    ids = [cell.id for cell in made.cells]
    assert ids.index("not-yours") == 1 < ids.index("ordered-text")  # first of all, whose copy it is
    (tmp_path / "course.toml").write_text(text.partition("[grading]")[0])
    made = nbformat.read(builder.build(tmp_path)[0].path, as_version=4)
    assert "ordered" not in made.metadata.tfkit and not any(cell.id == "ordered-text" for cell in made.cells)
