"""The mock class: students whose notebooks are right, wrong, broken or cheating, and the result that each must get.

Answers come from the collected submissions; every other change is a function that edits the released notebook.
"""

from __future__ import annotations

import ast
import copy
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from traitlets.config import Config

from autograder.api import Exercise
from autograder.credit.rule import SHARES
from autograder.exercises.answers import EditedAnswer, answers
from course import all_exercises
from course.settings import LessonError
from tfkit_course.command_line import make_parser

FIRST, MASKS, HEADS, LAYERS, DECODING = (
    "01-recurrence-to-attention",
    "02-masks",
    "03-heads",
    "05-transformer",
    "07-decoding",
)
CORE = (FIRST, HEADS)
ALL = (FIRST, MASKS, HEADS, LAYERS, DECODING)  # the track core of course.toml

CellChange = Callable[[NotebookNode, Exercise], None]


@dataclass(frozen=True)
class MockStudent:
    """One student: what they submit, how they answer, what they get wrong (exercise → misconception or change)."""

    name: str
    description: str
    units: tuple[str, ...] = CORE
    style: int = 0
    wrong: dict[str, str] = field(default_factory=dict)  # exercise → stem of the wrong submission
    edge: dict[str, str] = field(default_factory=dict)  # exercise → stem of one that is wrong only in edge cases
    changes: dict[str, CellChange] = field(default_factory=dict)  # exercise → change of its cell; it earns nothing
    harmless_changes: dict[str, CellChange] = field(default_factory=dict)  # the same, but the answer stays right
    corrupt: tuple[str, ...] = ()  # units whose file is not a notebook

    def expected_outcome(self, exercise: Exercise) -> ExpectedOutcome:
        """The expected entry of the gradebook for this exercise."""
        if exercise.unit in self.corrupt or exercise.id in self.changes:
            return ExpectedOutcome(passed=False, share=0.0)
        if exercise.id in self.edge and exercise.unit != FIRST:  # unit 01 does not require what unit 02 teaches
            name = self.edge[exercise.id]
            return ExpectedOutcome(passed=False, misconception=name, share=_share(exercise, "edge", name))
        if exercise.id in self.wrong:
            name = self.wrong[exercise.id]
            return ExpectedOutcome(passed=False, misconception=name, share=_share(exercise, "wrong", name))
        return ExpectedOutcome(passed=True, share=1.0)


@dataclass(frozen=True)
class ExpectedOutcome:
    """The result that the demo must produce. `share`: the part of the points that is earned, exactly."""

    passed: bool
    share: float
    misconception: str | None = None


def _share(exercise: Exercise, kind: str, name: str) -> float:
    """The part of the points that a collected answer keeps: what it says of itself, or that of one known edit."""
    (collected,) = (one for one in answers(exercise, kind) if one.stem == name)
    if not isinstance(collected, EditedAnswer):
        return 0.0  # a program of its own, at no known distance from a right one
    return SHARES[0] if collected.score_share is None else collected.score_share


def answer(nb: NotebookNode, exercise: Exercise) -> NotebookNode:
    """The cell with the answer to `exercise`."""
    wanted = f"solution-{exercise.id.replace('.', '-')}"
    return next(cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == wanted)


def check_cell(nb: NotebookNode, exercise: Exercise) -> NotebookNode:
    """The cell with the exercise's points."""
    wanted = f"check-{exercise.id.replace('.', '-')}"
    return next(cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == wanted)


def syntax_error(nb: NotebookNode, exercise: Exercise) -> None:
    """The cell does not parse."""
    cell = answer(nb, exercise)
    cell.source = cell.source.replace("):", ")", 1) + "\n    return ((\n"


def delete(nb: NotebookNode, exercise: Exercise) -> None:
    """The cell is deleted."""
    nb.cells.remove(answer(nb, exercise))


def _body(nb: NotebookNode, exercise: Exercise, line: str) -> None:
    cell = answer(nb, exercise)
    names = "\n".join(f"def {name}(*args, **kwargs):\n    {line}\n" for name in exercise.symbols)
    cell.source = f"import os\nimport sys\nimport torch\n\n{names}"


def endless_loop(nb: NotebookNode, exercise: Exercise) -> None:
    """The function never returns."""
    _body(nb, exercise, "while True: pass")


def out_of_memory(nb: NotebookNode, exercise: Exercise) -> None:
    """The function allocates memory until it runs out, and touches every page of it."""
    _body(nb, exercise, "kept = [torch.ones(1 << 25) for _ in range(10_000)]")


def exit_with_success(nb: NotebookNode, exercise: Exercise) -> None:
    """The function ends the process with success."""
    _body(nb, exercise, "os._exit(0)")


def patched_torch(nb: NotebookNode, exercise: Exercise) -> None:
    """Every comparison succeeds, and the answer is zeros."""
    cell = answer(nb, exercise)
    call = "return [torch.zeros(1)] * 2" if len(exercise.symbols) == 1 else "return args[0]"
    _body(nb, exercise, call)
    cell.source += (
        "\ntorch.allclose = torch.equal = lambda *a, **k: True\n"
        "torch.testing.assert_close = lambda *a, **k: None\n"
        "torch.Tensor.__eq__ = lambda self, other: torch.ones(())\n"
    )


def forge_score(nb: NotebookNode, exercise: Exercise) -> None:
    """Prints a score, displays a score, and hands the check cell in with its outputs, points and tags rewritten."""
    cell, check = answer(nb, exercise), check_cell(nb, exercise)
    points = check.metadata.nbgrader["points"]
    show = f"print({points})\nfrom IPython.display import display\ndisplay({points})\nsys.displayhook({points})\n"
    _body(nb, exercise, "return 1.0")
    cell.source += show + "1.0\n"
    check.source = f"{points}"
    check.outputs = [new_output("execute_result", data={"text/plain": f"{points}"}, execution_count=1)]
    check.metadata["tags"] = ["skip-execution"]
    check.metadata.nbgrader["points"] = 100.0
    check.metadata["tfkit"] = {"role": "check", "exercise": exercise.id, "verdict": {"status": "passed", "score": 100}}


def duplicate_check_cell(nb: NotebookNode, exercise: Exercise) -> None:
    """The check cell occurs three times, as happens by copy and paste; the answer is right."""
    check = check_cell(nb, exercise)
    index = nb.cells.index(check)
    for copy_number in range(2):
        again = copy.deepcopy(check)
        again.id = f"{check.id[:50]}-copy{copy_number}"
        nb.cells.insert(index + 1, again)


def warns(nb: NotebookNode, exercise: Exercise) -> None:
    """Right, but it writes to stderr when the cell runs."""
    cell = answer(nb, exercise)
    noise = 'warnings.warn("this is slow")\nprint("hm", file=sys.stderr)'
    cell.source = f"import sys\nimport warnings\n\n{cell.source}\n\n{noise}\n"


def add_script(nb: NotebookNode, exercise: Exercise) -> None:
    """Right, with a script in the notebook that would run in the instructor's browser."""
    script = "<script>document.title = 'taken over'</script><img src=x onerror=\"document.title='taken over'\">"
    nb.cells.insert(0, nbformat.v4.new_markdown_cell(f"I wonder {script}", id="mine-1"))
    display = f"from IPython.display import HTML, display\ndisplay(HTML({script!r}))"
    nb.cells.append(new_code_cell(display, id="mine-2"))


def poison(nb: NotebookNode, exercise: Exercise) -> None:
    """Makes the grader's model work on 400,000 rows endlessly, and answers with values that fill its memory."""
    _body(nb, exercise, "")
    flood = "    while True:\n        try:\n            args[0](torch.arange(400_000).unsqueeze(1))\n"
    flood += "        except Exception:\n            return torch.zeros(1).expand(100_000_000)\n"
    answer(nb, exercise).source += flood


STUDENTS: tuple[MockStudent, ...] = (
    MockStudent("ada", "right, first style, all units", ALL, style=0),
    MockStudent("ben", "right, second style, all units", ALL, style=1),
    MockStudent("chen", "right, third style", (FIRST, MASKS, HEADS), style=2),
    MockStudent("bruno", "poison: kills the grader", (DECODING,), changes={"decoding.greedy": poison}),
    MockStudent("dora", "divides by d", wrong={"attention.scaled_dot_product": "divided_by_d"}),
    MockStudent(
        "emil",
        "wrong only in edge cases",
        (FIRST, MASKS, HEADS, LAYERS),
        1,
        edge={
            "attention.attend": "nan_on_empty_row",
            "attention.scaled_dot_product": "empty_row_averages",
            "masks.softmax": "nan_on_empty_row",
            "attention.multi_head": "empty_row_averages",
            "transformer.encoder_layer": "nan_on_empty_row",
            "transformer.decoder_layer": "empty_row_averages",
        },
    ),
    MockStudent("fatima", "one head", style=2, wrong={"attention.multi_head": "single_head"}),
    MockStudent(
        "goran",
        "two misconceptions",
        (FIRST, HEADS, LAYERS),
        wrong={"rnn.encode": "reads_backwards", "transformer.encoder_layer": "pre_norm"},
    ),
    MockStudent("hana", "no length penalty", (FIRST, HEADS, DECODING), 1, wrong={"decoding.beam": "not_normalised"}),
    MockStudent("ivan", "syntax error", style=1, changes={"rnn.cell": syntax_error}),
    MockStudent("jana", "deletes a cell", changes={"attention.split_heads": delete}),
    MockStudent("kofi", "endless loop", style=2, changes={"attention.attend": endless_loop}),
    MockStudent("lena", "out of memory", changes={"attention.scaled_dot_product": out_of_memory}),
    MockStudent("marek", "os._exit", style=1, changes={"rnn.encode": exit_with_success}),
    MockStudent("nora", "patches torch.allclose", changes={"attention.scaled_dot_product": patched_torch}),
    MockStudent(
        "otto", "forges scores", changes={"attention.attend": forge_score, "attention.split_heads": forge_score}
    ),
    MockStudent(
        "petra", "right, warns on stderr", style=1, harmless_changes={"rnn.cell": warns, "attention.multi_head": warns}
    ),
    MockStudent(
        "quinn",
        "right, copies cells, scripts",
        harmless_changes={"rnn.encode": duplicate_check_cell, "rnn.cell": add_script},
    ),
    MockStudent("rosa", "submits a broken file", corrupt=(HEADS,)),
)


def hand_in(student: MockStudent, unit: str, released: Path, target: Path) -> Path:
    """Write the student's notebook of `unit` to `target/<unit>/` and return its path; `released` must have the unit."""
    source = released / unit / f"{unit}.ipynb"
    if not source.exists():
        raise FileNotFoundError(f"{source} is not released: run nbgrader generate_assignment {unit} first")
    path = target / unit / f"{unit}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook(student, unit, source), encoding="utf-8")
    return path


def notebook(student: MockStudent, unit: str, released: Path) -> str:
    """The text of the file that the student hands in for `unit`."""
    nb = nbformat.read(released, as_version=4)
    grade_ids = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells}
    here = [exercise for exercise in all_exercises()
            if exercise.unit == unit and f"solution-{exercise.id.replace('.', '-')}" in grade_ids]  # fmt: skip
    for exercise in here:
        answer(nb, exercise).source = submission(student, exercise)
    for exercise in here:
        for changes in (student.changes, student.harmless_changes):
            if exercise.id in changes:
                changes[exercise.id](nb, exercise)
    text = nbformat.writes(nb)
    return text[: len(text) // 2] if unit in student.corrupt else text


def submission(student: MockStudent, exercise: Exercise) -> str:
    """The student's answer, from the unit's collection, as it would stand in the notebook."""
    if exercise.id in student.wrong:
        chosen = next(one for one in answers(exercise, "wrong") if one.stem == student.wrong[exercise.id])
    elif exercise.id in student.edge:
        chosen = next(one for one in answers(exercise, "edge") if one.stem == student.edge[exercise.id])
    else:
        right = answers(exercise, "right")
        chosen = right[student.style % len(right)]
    return in_notebook(chosen.read_text(encoding="utf-8"), exercise)


def in_notebook(text: str, exercise: Exercise) -> str:
    """`text` without its docstring (it gives the error away), and without imports of what the same notebook defines."""
    tree = ast.parse(text)
    own = {name for other in all_exercises() if other.unit == exercise.unit for name in other.symbols}
    if tree.body and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant):
        drop = {tree.body[0].lineno: (tree.body[0].end_lineno or 1, "")}
    else:
        drop = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tfkit"):
            left = [alias for alias in node.names if alias.name not in own]
            kept = ast.unparse(ast.ImportFrom(node.module, left, 0)) if left else ""
            drop[node.lineno] = (node.end_lineno or node.lineno, kept)
    return _replaced(text.splitlines(), drop).strip() + "\n"


def _replaced(lines: list[str], drop: dict[int, tuple[int, str]]) -> str:
    out, number = [], 1
    while number <= len(lines):
        if number in drop:
            end, kept = drop[number]
            out += [kept] if kept else []
            number = end + 1
        else:
            out.append(lines[number - 1])
            number += 1
    return "\n".join(out)


def class_of(unit: str) -> list[MockStudent]:
    """The students who take the unit or, if nobody does, six who answer it, three of them with a collected wrong
    answer."""
    if takers := [student for student in STUDENTS if unit in student.units]:
        return takers
    here = [exercise for exercise in all_exercises() if exercise.unit == unit]
    return [MockStudent(one.name, "invented", (unit,), at, wrong=_wrong_answers(here, at) if at % 2 else {})
            for at, one in enumerate(STUDENTS[:6])]  # fmt: skip


def _wrong_answers(exercises: list[Exercise], number: int) -> dict[str, str]:
    exercise = exercises[number % len(exercises)]
    wrong = answers(exercise, "wrong")
    return {exercise.id: wrong[number % len(wrong)].stem} if wrong else {}


def submit(course_dir: Path, unit: str) -> list[MockStudent]:
    """Hand the class's notebooks of a released unit in to the course's exchange.

    -> the students. Raises LessonError if it is not a course, or the unit is not released.
    """
    from nbgrader.converters import NbGraderException
    from nbgrader.exchange import ExchangeError

    from autograder.cluster.course import BadCourse, settings_of, working_in

    try:
        app = settings_of(course_dir.resolve())
        released = Path(app.coursedir.root) / app.coursedir.release_directory
        students = class_of(unit)
        with tempfile.TemporaryDirectory(prefix="mock-class-") as homes, working_in(course_dir):
            for student in students:
                hand_in(student, unit, released, Path(homes) / student.name)
                submit_one(app.config, Path(homes) / student.name, student.name, unit)
    except (BadCourse, FileNotFoundError, ExchangeError, NbGraderException) as error:
        why = str(error) or f"{unit} is not in the exchange: run nbgrader release_assignment {unit} first"
        raise LessonError(why) from None
    return students


def submit_one(settings: Config, home: Path, student: str, unit: str) -> None:
    """nbgrader's `submit` of the notebooks in `home`, in this process: thirty commands would take a minute to start."""
    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange.default.submit import ExchangeSubmit

    own = Config(copy.deepcopy(settings))
    own.CourseDirectory.update(assignment_id=unit, student_id=student)
    own.Exchange.assignment_dir = str(home)
    ExchangeSubmit(coursedir=CourseDirectory(config=own), authenticator=Authenticator(config=own), config=own).start()


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 with one line on stderr if there is nothing to hand in."""
    parser = make_parser(
        "course.mock_class",
        """
        Submit released assignments for a mock class with right, wrong and cheating students, through nbgrader's
        exchange. Without arguments, print the students as JSON lines.
        """,
        exits={0: "done", 1: "there is nothing to submit; one line on standard error says why"},
        examples=("python -m course.mock_class my-course 03-heads",),
    )
    parser.add_argument(
        "directory",
        nargs="?",
        type=Path,
        metavar="COURSE_DIR",
        help="the nbgrader course directory; without it, the students are listed",
    )
    parser.add_argument("units", nargs="*", metavar="UNIT", help="released assignments, such as 03-heads")
    options = parser.parse_args(arguments)
    if options.directory is None:
        print(describe())
        return 0
    try:
        for unit in options.units:
            for student in submit(options.directory, unit):
                print(f"{student.name:10} {student.description}")
            print(f"next: nbgrader collect {unit} --ExchangeCollect.check_owner=False   (the class submits as you)")
    except (LessonError, OSError) as error:
        parser.exit(1, f"course.mock_class: {error}\n")
    return 0


def describe() -> str:
    """The class as JSON lines: name, description, units."""
    return "\n".join(json.dumps({"name": s.name, "description": s.description, "units": s.units}) for s in STUDENTS)


if __name__ == "__main__":
    raise SystemExit(main())
