"""The cells of a bug hunt in a lesson: the same hunt for everybody, drawn by the unit's name and a seed.

Nothing in the released cells names the fault: the code is drawn where the notebook runs, and what solves the hunt
stands between nbgrader's marks.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from autograder.api import Exercise
from autograder.exercises import contracts, registry
from autograder.hunts import make, own_test, pages, practice
from autograder.hunts.make import Hunt, UnknownHunt
from autograder.hunts.pages import PageHunt
from course.settings import LessonError
from course.solution import with_marks

SHOWN = """from autograder import hunt

faulty{tail} = hunt("{subject}", seed={seed}, student="{unit}")
faulty{tail}"""
LINES = '''def suspected_lines{tail}():
    """{told}"""
    return {lines}'''
REPAIR = '''def repaired_code{tail}():
    """{told}"""
    return {text}'''
VERDICT = "faulty{tail}.hand_in(suspected_lines{tail}, {test}, repaired_code{tail})"


def cells(subject: str, unit: str, seed: int, test: str, where: str, tail: str = "") -> tuple[str, str, str]:
    """The hunt, what is handed in with its solution between marks, and the verdict. Raises LessonError.

    tail: what its names end in, where the lesson has several hunts.
    """
    found = _drawn(subject, unit, seed, where)
    tree = ast.parse(test)
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef) or not tree.body[0].name.startswith("test"):
        raise LessonError(f"{where} must be one function, def test_it(answer), that fails on its code")
    told = practice.REPAIR_IS.format(code=f"faulty{tail}.code")
    parts = (
        LINES.format(told=practice.LINES_ARE, lines=[line for place in found.fault_lines for line in place], tail=tail),
        _told(test, tree.body[0], found),
        REPAIR.format(told=told, text=_edit(found, f"faulty{tail}.code"), tail=tail),
    )
    shown = SHOWN.format(subject=subject, seed=seed, unit=unit, tail=tail)
    return shown, "\n\n\n".join(map(_marked, parts)), VERDICT.format(test=tree.body[0].name, tail=tail)


def _drawn(subject: str, unit: str, seed: int, where: str) -> Hunt | PageHunt:
    try:
        if pages.is_page(subject):
            return pages.draw_page_hunt(subject, unit, seed)
        return make.draw(registry.find(subject), unit, seed)
    except (UnknownHunt, registry.UnknownExercise) as error:
        raise LessonError(f"{where}: {error}") from None


def _told(test: str, function: ast.FunctionDef, found: Hunt | PageHunt) -> str:
    """The test with a docstring that says what it must do."""
    if isinstance(found, PageHunt):
        told = practice.TEST_IS.format(parameter="page", what=practice.MODULE)
    elif len(found.exercise.symbols) > 1:
        told = practice.TEST_OF_SEVERAL
    else:
        told = practice.TEST_IS.format(parameter="answer", what=f"`{found.exercise.symbols[0]}`")
    lines = test.strip("\n").splitlines()
    form = [] if isinstance(found, PageHunt) else list(_in_course_form(found.exercise, function))
    lines[function.body[0].lineno - 1 : function.body[0].lineno - 1] = [f'    """{told}"""', *form]
    return "\n".join(lines)


def _in_course_form(exercise: Exercise, function: ast.FunctionDef) -> Iterator[str]:
    """What turns a test's parameters into the form of the course, in which the lesson's tests are written."""
    if exercise.contract is None:
        return
    for argument in function.args.args:
        symbol = exercise.symbols[0] if argument.arg == own_test.ANSWER else argument.arg
        yield from (f"    {line}".rstrip() for line in contracts.conversion(exercise, symbol).splitlines())
        yield f"    {argument.arg} = {contracts.CONVERT}({argument.arg})"


def _edit(found: Hunt | PageHunt, given: str) -> str:
    """Code that makes the repair of `given`, the expression for the faulty code."""
    old, new = found.code.splitlines(keepends=True), found.repair.splitlines(keepends=True)
    text, edited = given, found.code
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        before, after = "".join(old[i1:i2]), "".join(new[j1:j2])
        if tag != "equal" and before:
            text += f".replace({before.strip()!r}, {after.strip()!r})"
            edited = edited.replace(before.strip(), after.strip())
    return text if edited == found.repair else repr(found.repair)


def _marked(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return with_marks(function, text.splitlines())
