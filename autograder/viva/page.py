"""One page for each student for a five-minute talk about their own code: the code, five questions, and their keys.

The keys are folded on the screen and begin a new sheet on paper, so that the first part can be handed over.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from autograder.api import Exercise
from autograder.cluster.course import BadCourse, settings_of, students_in
from autograder.exercises import registry
from autograder.exercises.contracts import contract_name
from autograder.feedback.code import numbered_html
from autograder.feedback.files import write_new
from autograder.feedback.matrix import mark_code
from autograder.feedback.page import document
from autograder.feedback.translate import language, say, title_of
from autograder.grade.notebook import exercises_of
from autograder.nbgrader.submission import UnreadableNotebook, read
from autograder.questions import record
from autograder.questions.card import call_html, prompt_html
from autograder.questions.make import questions
from autograder.questions.runs import CallBudget, NoCode, OutOfTime, StudentCode, code_of
from autograder.questions.turns import in_turn
from autograder.questions.words import SIGNS, in_words
from autograder.sandbox.base import Backend, SandboxError

STYLE = """
main>p:first-of-type{color:var(--tfk-ink-soft)}
pre.tfkit-h-code{background:var(--tfk-card);border:1px solid var(--tfk-line);border-radius:var(--tfk-r2);
padding:var(--tfk-s2) var(--tfk-s3);overflow-x:auto;font-size:var(--tfk-t2);line-height:1.45}
.tfkit-h-number{display:inline-block;min-width:2em;margin-right:1em;text-align:right;color:var(--tfk-ink-soft);
user-select:none}
.q{break-inside:avoid;border-left:3px solid var(--tfk-accent);padding:1px 0 1px var(--tfk-s3);margin:var(--tfk-s4) 0}
.q p{margin:var(--tfk-s1) 0}.q>p>b{margin-right:.4em}
pre.tfkit-q-inputs{font-size:var(--tfk-t2);line-height:1.4;margin:0 0 var(--tfk-s3);
padding-left:var(--tfk-s3);overflow-x:auto}
.q ol{margin:var(--tfk-s1) 0;padding-left:1.6em;overflow-wrap:anywhere}
.q code{font-size:.93em}details{margin-top:var(--tfk-s5)}
summary{cursor:pointer;font-size:var(--tfk-t4);font-weight:600}
details table{margin-top:var(--tfk-s3)}details td,details th{text-align:left}
@media print{pre.tfkit-h-code{white-space:pre-wrap}details{break-before:page}summary{list-style:none}
details:not([open])>*{display:revert}details::details-content{content-visibility:visible;block-size:auto}}
"""
LEAD = "Five minutes about the student’s own code. Keys come from running it; a good reason counts more than a number."
QUESTION, KEYS = "Question", "Keys"
BEFORE = "Asked before"
OF_THIS, OF_OTHER = "about the code as it was handed in", "about other code, or with another seed"
NO_RECORD = "The submission has no record of earlier questions."
CLAIMED = "From a file that the student can edit: it says what was asked and answered, and proves nothing."
NO_QUESTIONS = "There are no questions about {exercise}: it has no right answer here, or one of too few operations."
OUT_OF_TIME = "No time was left for further questions: a page may take {seconds} s."
PAGE_S = 180.0  # wall time of one student's page, whatever exercises the notebook names
EACH = 3  # questions that are made about one exercise


@dataclass(frozen=True)
class VivaPage:
    """A student's page, and what could not be asked."""

    html: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class ExerciseQuestions:
    """One exercise on the page: its code and the questions, as JSON objects with keys."""

    exercise: str
    title: str
    code: str
    questions: tuple[dict[str, Any], ...]
    digest: str = ""  # of the code, by which answers about it are known


def submissions(root: Path, assignment: str, students: Sequence[str] = ()) -> dict[str, Path]:
    """Student → the submitted folder. Raises BadCourse for a student without one, or if there is none at all."""
    coursedir = settings_of(root.resolve()).coursedir
    found = students_in(coursedir, coursedir.submitted_directory, assignment)
    if not found:
        raise BadCourse(f"{root} has no submission of {assignment}: run `nbgrader collect {assignment}` first")
    if unknown := sorted(set(students) - found.keys()):
        raise BadCourse(f"{unknown[0]} has not submitted {assignment}")
    return {student: folder for student, folder in found.items() if not students or student in students}


def page_of(
    student: str, folder: Path, assignment: str, backend: Backend, seed: int, count: int, names: Collection[str] = ()
) -> VivaPage:
    """The page about what a student handed in; whatever is wrong with it becomes a problem, not an exception.

    names: of the assignment's notebooks, without their ending; by default the assignment's.
    """
    names = names or (assignment,)
    made, problems = list[ExerciseQuestions](), list[str]()
    budget = CallBudget(time.monotonic() + PAGE_S)
    for path in _assignment_notebooks(folder, names):
        try:
            notebook = read(path)
        except UnreadableNotebook as error:
            problems.append(f"{path.name}: {error}")
            continue
        for exercise in _exercises(notebook, assignment):
            try:
                budget.left()
                code = code_of(exercise, notebook)
                made.append(_asked(code, backend, f"{seed}/{student}", budget.part()))
            except OutOfTime:
                problems.append(say(OUT_OF_TIME, seconds=round(PAGE_S)))
                break
            except NoCode as error:
                problems.append(str(error))
            except SandboxError:
                raise
            except Exception as error:  # whatever a student's code does to the search costs only this exercise
                problems.append(f"{exercise.id}: no questions ({type(error).__name__}: {error})")
    problems += [say(NO_QUESTIONS, exercise=one.exercise) for one in made if not one.questions]
    if not made and not problems:
        problems.append(f"there is no notebook with an exercise in {folder}")
    handed_in = {one.digest for one in made}
    body = _body(_dealt(made, count), problems, _earlier_answers(record.read(folder), handed_in))
    return VivaPage(document(f"{student}: {assignment}", body, STYLE, language()), tuple(problems))


def notebooks_of(root: Path, assignment: str) -> set[str]:
    """The names of the assignment's notebooks where it was released or written; its own name without those."""
    coursedir = settings_of(root.resolve()).coursedir
    for step in (coursedir.release_directory, coursedir.source_directory):
        folder = Path(coursedir.format_path(step, ".", assignment))
        if found := {path.stem for path in folder.glob("*.ipynb")}:
            return found
    return {assignment}


def _assignment_notebooks(folder: Path, names: Collection[str]) -> list[Path]:
    """The assignment's own notebooks; the only one there is if it was renamed."""
    every = sorted(folder.glob("*.ipynb"))
    own = [path for path in every if path.stem in names]
    return own or (every if len(every) == 1 else [])


def _exercises(notebook: Mapping[str, Any], assignment: str) -> list[Exercise]:
    """Those that the notebook's check cells name, or all of the unit if their marks are lost."""
    marked = exercises_of(notebook)
    return marked or [exercise for exercise in registry.exercises() if exercise.unit == assignment]


def _asked(code: StudentCode, backend: Backend, seed: str, budget: CallBudget) -> ExerciseQuestions:
    found = questions(code, backend, seed, EACH, budget)
    exercise = code.exercise
    asked = tuple(one.as_json() for one in found)
    digest = record.digest(code.text, contract=contract_name(exercise))
    return ExerciseQuestions(exercise.id, title_of(exercise), code.text.strip("\n"), asked, digest)


def _dealt(made: Sequence[ExerciseQuestions], count: int) -> list[ExerciseQuestions]:
    """So many questions in all, from the exercises in turn."""
    taken = in_turn([[place] * len(one.questions) for place, one in enumerate(made)])[:count]
    return [replace(one, questions=one.questions[: taken.count(place)]) for place, one in enumerate(made)]


def _body(made: Sequence[ExerciseQuestions], problems: Sequence[str], before: str) -> str:
    parts, keys, number = [f"<p>{escape(say(LEAD))}</p>"], list[str](), 0
    parts += [f"<p>{escape(problem)}</p>" for problem in problems]
    for one in (one for one in made if one.questions):
        parts.append(f"<h2>{escape(one.title)} <code>{escape(one.exercise)}</code></h2>{numbered_html(one.code)}")
        given = ""
        for question in one.questions:
            number += 1
            call = call_html(question)
            parts.append((call if call != given else "") + _question(number, question))
            keys.append(_key(number, question))
            given = call
    if keys:
        head = f'<tr><th scope="col">{escape(say(QUESTION))}</th><th scope="col">{escape(say(KEYS))}</th></tr>'
        table = f"<table><thead>{head}</thead><tbody>{''.join(keys)}</tbody></table>"
        parts.append(f"<details><summary>{escape(say(KEYS))}</summary>{table}</details>")
    return "".join([*parts, before])


def _question(number: int, question: Mapping[str, Any]) -> str:
    prompt = prompt_html(question).replace("<p>", f"<p><b>{number}.</b>", 1)
    return f'<div class="q">{prompt}</div>'


def _key(number: int, question: Mapping[str, Any]) -> str:
    texts = in_words(question, question["key"]), question["explanation"]
    key, explanation = (mark_code(escape(text)) for text in texts)
    return f'<tr><th scope="row">{number}</th><td><b>{key}</b><br>{explanation}</td></tr>'


def _earlier_answers(found: Mapping[str, Sequence[record.Entry]], handed_in: Collection[str]) -> str:
    """What the student's own record says of earlier questions. handed_in: the digests of the code on this page."""
    parts = [_about(exercise, entry, entry["code"] in handed_in)
             for exercise, entries in found.items() for entry in reversed(entries) if entry["asked"]]  # fmt: skip
    told = f"<p>{escape(say(CLAIMED))}</p>{''.join(parts)}" if parts else f"<p>{escape(say(NO_RECORD))}</p>"
    return f"<h2>{escape(say(BEFORE))}</h2>{told}"


def _about(exercise: str, entry: record.Entry, handed_in: bool) -> str:
    """The questions about one version of the code, with the answers and whether the lab said that they were right."""
    rows = [
        f"<li>{SIGNS[asked['right']]} {mark_code(escape(asked['prompt']))} "
        f"<b>{mark_code(escape(asked['answer']))}</b></li>"
        for asked in entry["asked"]
    ]
    which = escape(say(OF_THIS if handed_in else OF_OTHER))
    return f"<p><code>{escape(exercise)}</code>, {escape(entry['at'][:10])}, {which}:</p><ul>{''.join(rows)}</ul>"


def path_of(folder: Path, student: str, assignment: str) -> Path:
    """Where a student's page is written."""
    return folder / f"{assignment}-{student}.html"


def write(path: Path, page: VivaPage) -> None:
    """Write the page, whatever its text is. Raises OSError, also if it is there already."""
    write_new(path, page.html.encode("utf-8", "replace"))
