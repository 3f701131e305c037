"""Sealed predictions: a file beside the notebook, and a folder that collects a class's predictions. Imports no torch.

`.tfkit/predictions.json` stores by name the questions, the predictions with their time, and later the results. If
`TFKIT_PREDICTIONS` names a folder, the file is copied into it at each change under an unguessable name: the folder may
be like nbgrader's inbound folder, which students can write to but not list. With it goes how many answers about their
own code were right, which a class is shown as one more prediction.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from autograder.exercises import registry
from autograder.exercises.variants import student_name
from autograder.feedback.files import replace_json
from autograder.feedback.translate import say
from autograder.questions import record
from tfkit_course.small_file import account_of, has_accounts, has_name_of, is_of, read_small_json
from tfkit_lab.folders import course_folders

FILE = Path(".tfkit") / "predictions.json"
FOLDER = "TFKIT_PREDICTIONS"
KINDS = ("number", "numbers", "shape", "choice", "mask")
MAX_BYTES = 1 << 20
SURE = (10, 30, 50, 70, 90)  # percent: what "how sure are you?" is answered with
MAX_FILES = 3000
MAX_TEXT = 400
MAX_CELLS = 4096  # cells of a mask, or numbers in a list
MAX_EXERCISES = 300
ABOUT_CODE = "about_code"  # in the copied file: exercise -> [right answers, questions, time] about the student's code
ASKED = re.compile(r"""\bpredict\(\s*["']([^"']+)["']""")  # in a lesson
OF_CODE = "Right answers about one's own code: {exercise}"
CLOCKS = timedelta(minutes=5)  # by which those of two machines may differ
USUAL_QUESTIONS = 3  # about one's own code, for each exercise


class AlreadySealed(ValueError):
    """The prediction has been made already, and can be made only once."""


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """The predictions of the notebooks in `folder`, by name; none if the file is missing or damaged."""
    return _whole(folder / FILE).get("predictions", {})


def seal(
    folder: Path, name: str, questions: list[dict[str, Any]], answers: list[Any] | None, sure: int | None = None
) -> dict[str, Any]:
    """Store the answers (None: the user skipped the question) with the time, and return the entry.

    sure: how sure the user is of all of them, one of SURE, if that was asked and answered. Raises AlreadySealed if
    there is one already, ValueError for another `sure`, OSError if the folder cannot be written.
    """
    if not _is_sure(sure):
        raise ValueError(f"how sure you are is one of {', '.join(map(str, SURE))} percent")
    whole = _whole(folder / FILE)
    known = whole.setdefault("predictions", {})
    if name in known:
        raise AlreadySealed(f"{name} is already sealed: a prediction can be made only once")
    known[name] = {"questions": questions, "answers": answers, "at": datetime.now(UTC).isoformat(timespec="seconds")}
    if answers is not None and sure is not None:
        known[name]["sure"] = sure
    _write(folder, whole)
    return known[name]


def vote_again(folder: Path, name: str, answers: list[Any]) -> dict[str, Any]:
    """Store the second answers to a sealed prediction, given after a talk, beside the first, and return the entry.

    Raises AlreadySealed if there are some, ValueError if there is nothing to vote on again, OSError if the folder
    cannot be written.
    """
    whole = _whole(folder / FILE)
    entry = whole.get("predictions", {}).get(name)
    if not is_open(entry):
        if entry is not None and entry.get("again") is not None:
            raise AlreadySealed(f"{name} has a second vote already: it can be made only once")
        raise ValueError(f"{name} has no second vote: it is not sealed, was skipped, or its result is known")
    entry["again"] = answers
    _write(folder, whole)
    return entry


def is_open(entry: dict[str, Any] | None) -> bool:
    """Whether a prediction can be voted on again: it is sealed with answers, once, and its result is not known."""
    return entry is not None and entry.get("answers") is not None and not (entry.get("again") or entry.get("observed"))


def add_outcome(folder: Path, name: str, observed: list[Any]) -> None:
    """Store the latest observed result beside a sealed prediction."""
    whole = _whole(folder / FILE)
    entry = whole.get("predictions", {}).get(name)
    if entry is not None and entry.get("observed") != observed:
        entry["observed"] = observed
        _write(folder, whole)


def publish(folder: Path) -> None:
    """Copy the file again, after questions about the student's own code were answered.

    Raises OSError if the folder cannot be written.
    """
    if os.environ.get(FOLDER):
        _write(folder, {"predictions": {}} | _whole(folder / FILE))


def _about_code(folder: Path) -> dict[str, list[Any]]:
    """Exercise -> how many of the answers about its latest version were right, of how many, and when."""
    latest = {name: [one for one in entries if one["asked"]][-1:] for name, entries in record.read(folder).items()}
    return {name: [sum(asked["right"] for asked in one["asked"]), len(one["asked"]), one["at"]]
            for name, some in latest.items() for one in some}  # fmt: skip


def _as_predictions(about_code: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The answers about a student's code, each exercise as a prediction of one question; students can write anything
    into them."""
    for name, found in list(about_code.items())[:MAX_EXERCISES] if isinstance(about_code, dict) else ():
        match found:
            case [int(right), int(count), str(at)] if 0 <= right <= count <= record.QUESTIONS and count:
                exercise = str(name)[:MAX_TEXT]
                options = [f"{number} / {USUAL_QUESTIONS}" for number in range(USUAL_QUESTIONS + 1)]
                question = {"kind": "choice", "label": say(OF_CODE, exercise=exercise), "options": options}
                entry = {"questions": [question], "answers": [[f"{right} / {count}"]], "at": at}
                yield f"{ABOUT_CODE}.{exercise}", entry


def _whole(path: Path) -> dict[str, Any]:
    """The valid entries of a file, since students can write anything into it."""
    try:
        found = read_small_json(path, MAX_BYTES)
        entries = {str(name)[:MAX_TEXT]: one for name, one in found["predictions"].items() if is_entry(one)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    texts = {key: found[key] for key in ("token", "student") if isinstance(found.get(key), str)}
    return {**texts, "predictions": entries, ABOUT_CODE: found.get(ABOUT_CODE)}


def is_entry(one: Any) -> bool:
    """Whether it is a prediction as `seal` writes it."""
    if not isinstance(one, dict) or not isinstance(one.get("at"), str) or not isinstance(one.get("questions"), list):
        return False
    if "answers" not in one:  # of a skipped question it is None
        return False
    questions, observed = one["questions"], one.get("observed")
    valid = all(map(_is_question, questions)) and _is_sure(one.get("sure"))
    lists = (one.get("answers"), one.get("again"), observed)
    known = not isinstance(observed, list) or None not in observed  # every question has a result, or none has
    return valid and known and _is_strict(questions) and all(found is None or _fit(questions, found) for found in lists)


def _is_sure(value: Any) -> bool:
    return value is None or (isinstance(value, int) and value in SURE)


def _is_question(one: Any) -> bool:
    """Whether it is a question as `predict` writes it: a browser takes its label, options and columns as texts, and
    an answer is compared within what it says. What else it holds is plain."""
    if not isinstance(one, dict) or one.get("kind") not in KINDS or not isinstance(one.get("label"), str):
        return False
    lists = [one[key] for key in ("options", "rows", "columns") if one.get(key) is not None]
    texts = all(isinstance(found, list) and len(found) <= MAX_CELLS and all(map(_is_text, found)) for found in lists)
    within = one.get("within", 0.0)
    return texts and _is_number(within) and within >= 0 and all(map(_is_plain, one.values()))


def _is_plain(value: Any) -> bool:
    """Whether nothing is nested in it but in a list: what is nested deep can be read, and not written again."""
    items = value if isinstance(value, list) else [value]
    return not any(isinstance(item, list | dict) for item in items)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_TEXT


def _fit(questions: list[dict[str, Any]], found: Any) -> bool:
    """Whether there is a value for each question, of its kind."""
    fits = isinstance(found, list) and len(found) == len(questions)
    return fits and all(_fits(q["kind"], value) for q, value in zip(questions, found, strict=True))


def _is_strict(value: Any) -> bool:
    """Whether a browser can read it: Python writes and reads numbers that JSON does not have, and would send them."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _fits(kind: str, value: Any) -> bool:
    """Whether a value fits a question of this kind; None, which means no answer, fits all but a mask, which a browser
    draws."""
    if value is None:
        return kind != "mask"
    if kind == "number":
        return _is_number(value)
    if kind == "choice":
        return isinstance(value, list) and all(map(_is_text, value))
    if kind == "mask":
        rows = value if isinstance(value, list) else [None]
        fine = all(isinstance(row, list) and all(isinstance(cell, bool) for cell in row) for row in rows)
        return fine and sum(map(len, rows)) <= MAX_CELLS
    return isinstance(value, list) and len(value) <= MAX_CELLS and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _write(folder: Path, whole: dict[str, Any]) -> None:
    whole.pop(ABOUT_CODE, None)  # only the copy has it
    whole.setdefault("token", secrets.token_hex(8))
    whole["student"] = student_name()
    replace_json(folder / FILE, whole)
    if shared := os.environ.get(FOLDER):
        copied = {**whole, ABOUT_CODE: _about_code(folder)}
        replace_json(Path(shared) / f"{whole['student']}.{whole['token']}.json", copied)


def of_class(root: Path, shared: str | None) -> list[dict[str, Any]]:
    """Every prediction of a class: its name, its questions, and the students' answers in order of time, with those of
    a second vote (`again`) and how sure they were (`sure`), where they were asked.

    Read from the shared folder, and from submissions to the courses under `root`; one student's prediction counts once.
    Entries whose questions are not those of most students belong to another version of the lesson, or to nobody's, and
    are left out, and so are predictions that no unit of the course has and only one student made. What came out is what
    most students say.
    """
    known, latest = _names_of_course(), (datetime.now(UTC) + CLOCKS).isoformat()
    found: dict[str, dict[str, dict[str, Any]]] = {}  # name → its questions as text → what is known of them
    for student, name, entry in _entries(root, shared):
        asked = {"name": name, "questions": entry["questions"], "observed": {}, "by": {}}
        one = found.setdefault(name, {}).setdefault(json.dumps(entry["questions"], sort_keys=True), asked)
        more = {key: entry[key] for key in ("again", "sure") if entry.get(key) is not None}
        at = entry["at"] if entry["at"] <= latest else ""  # the newest is shown first: no time to come is believed
        answer = {"student": student, "at": at, "answers": entry["answers"], **more}
        one["by"].setdefault(student, answer)
        if entry.get("observed"):
            one["observed"].setdefault(student, entry["observed"])
    commonest = (max(versions.values(), key=lambda one: len(one["by"])) for _, versions in sorted(found.items()))
    return [
        {**one, "observed": _commonest(one["observed"].values()),
         "by": sorted(one["by"].values(), key=lambda answer: answer["at"])}
        for one in commonest if one["name"] in known or len(one["by"]) > 1
    ]  # fmt: skip


def _commonest(results: Iterable[list[Any]]) -> list[Any] | None:
    """The result that most have; None without any."""
    found = [(json.dumps(one), one) for one in results]
    counts = Counter(text for text, _ in found)
    return max(found, key=lambda one: counts[one[0]])[1] if found else None


@cache
def _names_of_course() -> frozenset[str]:
    """The predictions that the lessons of the installed courses ask for, and those about the code of an exercise."""
    try:
        exercises = registry.exercises()
    except registry.TwoExercises:
        return frozenset()
    beside = {exercise.folder.parent for exercise in exercises if exercise.folder}  # a unit need not have exercises
    texts = (lesson.read_text(encoding="utf-8") for folder in beside for lesson in folder.glob("*/lesson.py"))
    asked = {name for text in texts for name in ASKED.findall(text)}
    return frozenset(asked | {f"{ABOUT_CODE}.{exercise.id}" for exercise in exercises})


def hide_names(found: list[dict[str, Any]]) -> None:
    """Replace the names of students in the result of `of_class` by numbers, in the order of their first answers."""
    answers = sorted((answer["at"], answer["student"]) for one in found for answer in one["by"])
    numbers = {student: str(n) for n, student in enumerate(dict.fromkeys(student for _, student in answers), 1)}
    for one in found:
        for answer in one["by"]:
            answer["student"] = numbers[answer["student"]]


def _entries(root: Path, shared: str | None) -> Iterator[tuple[str, str, dict[str, Any]]]:
    read = list(_claimed(root, shared))
    accounts = has_accounts((path, claimed) for collected, path, claimed, _ in read if not collected)
    for collected, path, claimed, whole in read:
        student = account_of(path, claimed) if accounts and not collected else claimed
        for name, entry in (*whole.get("predictions", {}).items(), *_as_predictions(whole.get(ABOUT_CODE))):
            yield student, name, entry
    for course in course_folders(root):
        for path in sorted(course.glob(f"submitted/*/*/{record.FILE.as_posix()}"))[:MAX_FILES]:
            for name, entry in _as_predictions(_about_code(path.parents[1])):
                yield path.relative_to(course / "submitted").parts[0], name, entry


def _claimed(root: Path, shared: str | None) -> Iterator[tuple[bool, Path, str, dict[str, Any]]]:
    """Each file's content with its student; first whether nbgrader collected it, by whose folder it is known."""
    for student, path in _files(root, shared):
        whole = _whole(path)
        claimed = student or whole.get("student", path.stem.rpartition(".")[0])[:MAX_TEXT]
        if student or (has_name_of(path, claimed) and is_of(path, claimed)):  # else somebody else's in this one's name
            yield bool(student), path, claimed, whole


def share_out(files: Iterable[Path]) -> list[Path]:
    """The first MAX_FILES, in turn of each account that they belong to: one that writes more costs nobody a place."""
    turns: Counter[int] = Counter()
    ranked = []
    for path in files:
        try:
            owner = path.lstat().st_uid
        except OSError:  # it was deleted
            continue
        ranked.append((turns[owner], path))
        turns[owner] += 1
    return [path for _, path in sorted(ranked, key=lambda one: one[0])[:MAX_FILES]]


def _files(root: Path, shared: str | None) -> Iterator[tuple[str, Path]]:
    """Files with their students: by the folder where nbgrader collected them, or "" if only the file identifies
    them."""
    if shared and os.access(shared, os.R_OK):
        files = (path for path in sorted(Path(shared).glob("*.json")) if not path.name.endswith(".progress.json"))
        yield from (("", path) for path in share_out(files))
    for course in course_folders(root):
        for path in sorted(course.glob(f"submitted/*/*/{FILE.as_posix()}"))[:MAX_FILES]:
            yield path.relative_to(course / "submitted").parts[0], path
