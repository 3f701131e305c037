"""The cards with which a unit opens: which they are, what becomes of an answer, and where to read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from autograder.exercises.variants import student_name
from autograder.feedback.translate import say
from tfkit_lab import prediction_card
from tfkit_lab.model_table import notebooks_folder
from tfkit_lab.recall import record, schedule
from tfkit_lab.recall.cards import ORDER, Card, cards_of

RIGHT, WRONG = "Right.", "Not this time. The right answer: {answer}"
WRONG_BELOW = "Not this time. A right answer:"  # with rows of text below it
WRONG_MARKED = "Not this time."  # with lines of code below it, of which the right one is marked
MARKS = {  # of an option: whether it is right, and whether it was chosen
    (True, True): "✓ your answer",
    (True, False): "✓ the right one",
    (False, True): "≠ your answer",
    (False, False): "",
}
EASY = "Easy: it comes back later."
NOT_STORED = "Your answers cannot be stored ({why}), so these questions will come again."
NO_PLAN = "The package fsrs is missing here, so no question is planned to come back: pip install fsrs"
READ_AGAIN = "{lesson}, “{section}”"
Clock = Callable[[], datetime]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Opening:
    """The cards of one opening of a unit, in the reader's language. `results`: by a card's place what came of it.

    after: the earlier units, in the course's order. here: the folder of the notebook.
    """

    def __init__(self, unit: str, after: Sequence[str], here: Path, clock: Clock = _utc_now) -> None:
        self.unit, self.here, self._clock = unit, here, clock
        self._folder = notebooks_folder(here)
        self._record = record.read(self._folder)
        self.note = self._record.note
        if not schedule.can_plan():
            self.note = say(NO_PLAN)
        known = cards_of(after)
        kept = self._record.opening(unit, clock())
        chosen = self._kept(known, kept["cards"]) if kept else []
        if not chosen or kept is None:
            kept, chosen = None, schedule.choose(known, self._record.states, clock(), student_name())
        elif len(kept["given"]) == len(chosen) and (due := schedule.find_due(known, self._record.states, clock())):
            kept, chosen = None, due
        self._cards = chosen
        self.cards = [card.translate() for card in chosen]
        self._given: dict[str, dict[str, Any]] = dict(kept["given"]) if kept else {}
        self._before: dict[str, Any] = {}  # the states before the answers of now, of which one may still become easy
        self.results = {n: self._result(n) for n, card in enumerate(chosen) if card.id in self._given}

    @staticmethod
    def _kept(known: Sequence[Card], names: Sequence[str]) -> list[Card]:
        by_name = {card.id: card for card in known}
        return [by_name[name] for name in names if name in by_name]

    @property
    def next_due(self) -> datetime | None:
        """When the next card comes back; None before anything was answered."""
        return self._record.next_due()

    def answer(self, place: int, answer: Any) -> dict[str, Any]:
        """What came of the answer to the card at this place, which is stored.

        Raises ValueError for an answer that does not fit, or a second one.
        """
        card = self.cards[place]
        if place in self.results:
            raise ValueError(say("This question is answered already."))
        given = card.read_answer(answer)
        right = card.is_right(given)
        self._before[card.id] = self._record.states.get(card.id)
        self._given[card.id] = {"right": right, "answer": given}
        self._store(card.id, "right" if right else "wrong")
        self.results[place] = self._result(place)
        return self.results[place]

    def rate_easy(self, place: int) -> dict[str, Any]:
        """The result of a right answer that was easy: its card comes back later. Raises ValueError for another."""
        card, result = self.cards[place], self.results.get(place)
        if result is None or not result["right"] or card.id not in self._before:
            raise ValueError(say("Only a right answer that was just given can be easy."))
        self._store(card.id, "easy")
        self.results[place] = {**result, "told": say(EASY), "easy": True}
        return self.results[place]

    def _store(self, name: str, rating: str) -> None:
        state = schedule.review(self._before[name], rating, self._clock())
        if state is not None:
            self._record.states[name] = state
        opened = {"at": self._clock().isoformat(), "cards": [card.id for card in self._cards], "given": self._given}
        self._record.openings[self.unit] = opened
        try:
            record.write(self._folder, self._record)
        except OSError as error:
            self.note = say(NOT_STORED, why=error.strerror or str(error))

    def _result(self, number: int) -> dict[str, Any]:
        card = self.cards[number]
        right, answer = self._given[card.id]["right"], _answer_of(card, self._given[card.id])
        why, line = card.explain(answer)
        place = say(READ_AGAIN, lesson=card.lesson, section=card.section)
        return {"right": right, "told": _told(card, right), "options": _marked_options(card, answer),
                "key": key_rows(card, answer, right), "line": line, "why": why, "easy": False, "place": place,
                "href": self._link(card), "unit": card.unit, "cell": card.cell}  # fmt: skip

    def _link(self, card: Card) -> str:
        """The address of the section from this notebook; empty where the unit's notebook is not there."""
        file = f"{card.unit}.ipynb"
        anchor = quote(card.section.translate({ord(sign): None for sign in "`*_"}).replace(" ", "-"))
        if (self.here.parent / card.unit / file).is_file():
            return f"../{card.unit}/{file}#{anchor}"
        return f"{file}#{anchor}" if (self.here / file).is_file() else ""


def _answer_of(card: Card, given: dict[str, Any]) -> Any:
    """An answer that was stored; None if it does not fit the card, as one in another language."""
    try:
        return card.read_answer(given["answer"])
    except ValueError:
        return None


def _told(card: Card, right: bool) -> str:
    if right:
        return say(RIGHT)
    if card.has_lines:
        return say(WRONG_MARKED)
    return say(WRONG_BELOW) if card.question["kind"] in (ORDER, "mask") else say(WRONG, answer=key_text(card))


def _marked_options(card: Card, answer: Any) -> list[tuple[str, str]]:
    """The options of a choice, each with the words that say whether it is right and whether it was chosen."""
    options = card.question["options"] if card.question["kind"] == "choice" else []
    marks = [MARKS[option in card.key, option in (answer or [])] for option in options]
    return [(option, say(mark) if mark else "") for option, mark in zip(options, marks, strict=True)]


def key_text(card: Card) -> str:
    """The right answer in a few words."""
    return prediction_card.plain(card.question, card.key)


def key_rows(card: Card, answer: Any, right: bool) -> str:
    """A right answer as rows of text, of lines in order the whole program; empty where it is neither that nor a mask.

    Lines in order are shown as they were put where that was right.
    """
    if card.question["kind"] == ORDER:
        order = answer if right and answer is not None else card.key[0]
        return "\n".join(filter(None, [card.before, *(card.question["lines"][place] for place in order), card.after]))
    if card.question["kind"] == "mask":
        return "\n".join(" ".join("✓" if cell else "·" for cell in row) for row in card.key)
    return ""
