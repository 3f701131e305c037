"""What a student has answered: `.tfkit/recall.json` beside the folders of the units. Imports no torch.

The file is the student's. What is damaged in it is left out; a file that cannot be read at all, or of a later format,
is set aside as `recall.json.old` (a second one as `recall.json.old2`), and a new one begins.
"""

from __future__ import annotations

import itertools
import os
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.feedback.files import replace_json
from autograder.feedback.translate import say
from tfkit_course.formats import RECALL, is_newer
from tfkit_course.small_file import MALFORMED, read_small_json, reason
from tfkit_lab.recall.schedule import LONGEST_DAYS, State, due_at

FILE = Path(".tfkit") / "recall.json"
OLD = FILE.with_name("recall.json.old")
MAX_BYTES = 1 << 20
MAX_CARDS = 5000
MAX_TEXT = 200
IN_REVIEW = 2  # as fsrs numbers its states; without steps of minutes there is no other
YEARS = range(2000, 9000)  # in which a card may have been answered; at the ends of the calendar time zones overflow
SAME_OPENING = timedelta(hours=12)  # for so long a cell that is run again shows the same cards
BEGUN_ANEW = "The record of your answers could not be read ({why}), so it begins anew; the old file is {old}."
LATER_FORMAT = "a later release wrote it"


@dataclass
class Record:
    """`states`: of each card that was answered; `openings`: of each unit the cards that it opened with, when, and
    of each that was answered the answer and whether it was right. note: one line for the student, if the file was set
    aside."""

    states: dict[str, State] = field(default_factory=dict)
    openings: dict[str, dict[str, Any]] = field(default_factory=dict)
    note: str = ""

    def opening(self, unit: str, now: datetime) -> dict[str, Any] | None:
        """The cards that the unit opened with a moment ago: `{"at", "cards", "given"}`."""
        found = self.openings.get(unit)
        if found is None or abs(now - datetime.fromisoformat(found["at"])) > SAME_OPENING:
            return None
        return found

    def next_due(self) -> datetime | None:
        """When the next card comes back; None before anything was answered."""
        return min(map(due_at, self.states.values()), default=None)


def read(folder: Path) -> Record:
    """The record in the folder of the notebooks; empty, with a note, where it cannot be read. Changes no file."""
    try:
        found = read_small_json(folder / FILE, MAX_BYTES)
        if is_newer(found["format"], RECALL):
            return Record(note=_note(folder, say(LATER_FORMAT)))
        states = {str(name)[:MAX_TEXT]: one for name, one in list(found["cards"].items())[:MAX_CARDS] if _is_state(one)}
        openings = {str(name)[:MAX_TEXT]: one for name, one in found["openings"].items() if _is_opening(one)}
    except FileNotFoundError:
        return Record()
    except MALFORMED as error:
        why = reason(error) if isinstance(error, OSError | ValueError) else say("it is no such record")
        return Record(note=_note(folder, why))
    return Record({name: _only_state(one) for name, one in states.items()}, openings)


def write(folder: Path, record: Record) -> None:
    """Store the record; a file that could not be read is set aside first. Raises OSError if that is not possible."""
    if record.note:
        with suppress(FileNotFoundError):
            os.replace(folder / FILE, folder / _free(folder))
        record.note = ""
    whole = {"format": RECALL.version, "cards": record.states, "openings": record.openings}
    replace_json(folder / FILE, whole)


def _note(folder: Path, why: str) -> str:
    return say(BEGUN_ANEW, why=why, old=_free(folder).as_posix())


def _free(folder: Path) -> Path:
    """Where the file is set aside: no other that was set aside is lost."""
    names = itertools.chain([OLD], (OLD.with_name(f"{OLD.name}{number}") for number in itertools.count(2)))
    return next(name for name in names if not os.path.lexists(folder / name))


def _is_state(one: Any) -> bool:
    """Whether it is a card's state as `schedule.review` gives it: in review, without a step, with numbers and times
    that it can go on from."""
    try:
        stability, difficulty = one["stability"], one["difficulty"]
        due, last = (datetime.fromisoformat(one[name]) for name in ("due", "last_review"))
        state, step, wait = one["state"], one["step"], due - last
    except MALFORMED:
        return False
    return (
        type(state) is int and state == IN_REVIEW and step is None
        and _is_between(stability, 0.001, 1e6) and _is_between(difficulty, 1, 10)
        and due.utcoffset() == last.utcoffset() == timedelta(0)
        and timedelta(0) <= wait <= timedelta(days=LONGEST_DAYS) and last.year in YEARS
    )  # fmt: skip


def _is_between(number: Any, least: float, most: float) -> bool:
    return type(number) in (int, float) and least <= number <= most


def _only_state(one: State) -> State:
    """The keys of a state, and no other that a file may have beside them."""
    return {
        "card_id": 0,
        **{key: one[key] for key in ("state", "step", "stability", "difficulty", "due", "last_review")},
    }


def _is_opening(one: Any) -> bool:
    try:
        at, cards, given = datetime.fromisoformat(one["at"]), one["cards"], one["given"]
        return (
            at.tzinfo is not None
            and all(isinstance(card, str) for card in cards)
            and all(isinstance(one["right"], bool) and "answer" in one and name in cards for name, one in given.items())
        )
    except MALFORMED:
        return False
