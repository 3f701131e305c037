"""Practice without end: a notebook with a student's next bug hunt, in an exercise, in a page, or in a unit's exercises.

Each hunt is a file of its own in one folder, called by its subject and its seed, so the files say which one is next.
The hunt itself is drawn where the notebook runs: nothing that is written here names a fault. Loads no torch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.exercises import registry
from autograder.exercises.variants import variant
from autograder.feedback.files import write_new
from autograder.feedback.translate import say, title_of
from autograder.hunts import make, pages
from autograder.hunts.make import UnknownHunt

TITLE = "Bug hunt: {title}"
PAGE = "the whole model {name}"
WHAT_TO_DO = (
    "The first cell below shows code that looks right and has one fault or two, with its symptom. In the cell after "
    "it, write as far as you get: the numbers of the lines that you suspect, a test, and the repaired code. The last "
    "cell says how far the hunt is solved. The code is in the form of the lesson's text, even if your course asks for "
    "another one. Nothing of the hunt counts, and as many further hunts can be drawn as you like."
)
LINES_ARE = "The numbers of the lines that you suspect, in a list."
TEST_IS = "Ends without an error on right code, and fails on the code above. `{parameter}` is {what}."
REPAIR_IS = "The whole code, repaired, as text: `{code}` with other words in place of those that are wrong."
MODULE = "its module, with `page.Config` and `page.MODEL`"
TEST_OF_SEVERAL = (
    "Ends without an error on right code, and fails on the code above. Each parameter is what that code calls by the "
    "same name."
)

SHOWN = """from autograder import hunt

faulty = hunt({drawn})
faulty"""
STUBS = '''def suspected_lines():
    """{lines}"""
    raise NotImplementedError


def test_it({parameters}):
    """{test}"""
    raise NotImplementedError


def repaired_code():
    """{repair}"""
    raise NotImplementedError'''
VERDICT = "faulty.hand_in(suspected_lines, test_it, repaired_code)"
TWO_FAULTS_EACH = 3  # of so many hunts one has two faults: the next step once single ones are found
NUMBERED = re.compile(r"(.+)-(\d{1,9})\.ipynb")


def subjects_of(unit: str) -> list[str]:
    """The exercises of a unit, called as its folder is, that its hunts are drawn from. Raises UnknownHunt."""
    found = [one.id for one in registry.exercises() if one.folder is not None and one.folder.name == unit]
    if not found:
        raise UnknownHunt(say("No installed course has exercises in a unit {unit}.", unit=repr(unit[:80])))
    return found


def write_next(folder: Path, subjects: Sequence[str]) -> Path:
    """Write the notebook of the next hunt into `folder`, which is made if it is missing, and return its path.

    subjects: ids of exercises or pages; of several, one of those that were hunted least is drawn for the student.
    Raises UnknownHunt or UnknownExercise for an unknown one, OSError if the folder cannot be written.
    """
    seeds = _seeds_in(folder)
    fewest = min(len(seeds.get(_stem(one), ())) for one in subjects)
    among = [one for one in subjects if len(seeds.get(_stem(one), ())) == fewest]
    subject: str = variant(f"hunt/next/{fewest}/{len(among)}", None, subject=among).subject
    seed = max(seeds.get(_stem(subject), ()), default=0) + 1
    text = json.dumps(notebook(subject, seed), indent=1, ensure_ascii=False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{_stem(subject)}-{seed}.ipynb"
    write_new(path, text)  # never over a student's work
    return path


def notebook(subject: str, seed: int) -> dict[str, Any]:
    """The notebook of one hunt, in the reader's language. Raises UnknownHunt or UnknownExercise."""
    title, parameters, test = _told_of(subject)
    drawn = [json.dumps(subject), f"seed={seed}", *(["faults=2"] if _has_two_faults(subject, seed) else [])]
    repair = say(REPAIR_IS, code="faulty.code")
    stubs = STUBS.format(lines=say(LINES_ARE), parameters=parameters, test=test, repair=repair)
    cells = [
        _cell("markdown", "about", f"# {say(TITLE, title=title)}\n\n{say(WHAT_TO_DO)}"),
        _cell("code", "hunt", SHOWN.format(drawn=", ".join(drawn))),
        _cell("code", "hunt-answer", stubs),
        _cell("code", "hunt-verdict", VERDICT),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "tfkit": {"hunt": subject}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _has_two_faults(subject: str, seed: int) -> bool:
    """Whether a hunt has two: each third one, where the subject is an exercise that has mistakes to make together."""
    return seed % TWO_FAULTS_EACH == 0 and not pages.is_page(subject) and bool(make.hunts(registry.find(subject), 2))


def _told_of(subject: str) -> tuple[str, str, str]:
    """The title of a hunt, the parameters of its test, and what the test must do."""
    if pages.is_page(subject):
        return say(PAGE, name=pages.page(subject).name), "page", say(TEST_IS, parameter="page", what=say(MODULE))
    exercise = registry.find(subject)
    symbol, *others = exercise.symbols
    if others:
        return title_of(exercise), ", ".join(exercise.symbols), say(TEST_OF_SEVERAL)
    return title_of(exercise), "answer", say(TEST_IS, parameter="answer", what=f"`{symbol}`")


def _cell(kind: str, id: str, source: str) -> dict[str, Any]:
    code: dict[str, Any] = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "id": id, "metadata": {"tfkit": {"role": id}}, "source": source, **code}


def _seeds_in(folder: Path) -> dict[str, list[int]]:
    """The seeds of the hunts that the folder has, by the beginning of their files' names."""
    found: dict[str, list[int]] = {}
    for path in sorted(folder.glob("*.ipynb")):
        if named := NUMBERED.fullmatch(path.name):
            found.setdefault(named[1], []).append(int(named[2]))
    return found


def _stem(subject: str) -> str:
    return re.sub(r"[^\w.]", "_", subject)
