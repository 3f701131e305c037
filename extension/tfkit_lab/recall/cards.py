"""Cards: questions of a minute on earlier units, each with the key that running gave and the section to read again.

`cards.json` in a unit's folder holds them; `python -m course.cards` writes it. Loads no torch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.exercises import registry
from autograder.feedback.translate import say, translate_text
from tfkit_course.small_file import MALFORMED, read_small_json
from tfkit_lab.questions import Question, is_right, stored_value

FILE = "cards.json"
MAX_BYTES = 4 << 20
ORDER = "order"  # the kind of a question that has lines to put in order; the others are those of predictions
TOLD = "Whoever writes this line is told: “{sentence}”"
NEEDED = {
    "number": "This question is answered by a number.",
    "numbers": "This question is answered by a list of {count} numbers.",
    "shape": "This question is answered by a shape, a list of whole numbers such as [2, 3].",
    "choice": "This question is answered by the number or the text of one of its {count} options.",
    "several": "This question is answered by a list of the numbers or the texts of some of its {count} options.",
    "mask": "This question is answered by a table of {rows} × {columns} cells, each 0 or 1.",
    ORDER: "This question is answered by a list of the numbers of its {count} lines, each once.",
}


@dataclass(frozen=True)
class Card:
    """One question. `key`: the right answer as it is stored; of an order the list of all right ones.

    title: of the exercise that it is about, if there is one. code: shown above the question; before, after: what is
    given around lines to put in order. why: one sentence on the answer; whys: of some wrong options another. lesson:
    the title of the unit's lesson; section, cell: the heading to read again, and the id of the cell that has it.
    """

    id: str
    unit: str
    question: Question
    key: Any
    why: str
    section: str
    cell: str
    lesson: str
    title: str = ""
    code: str = ""
    before: str = ""
    after: str = ""
    whys: dict[str, str] = field(default_factory=dict)

    def read_answer(self, answer: Any) -> Any:
        """The answer as it is stored. Raises ValueError, worded for the user, if it does not fit the question."""
        try:
            return self._order(answer) if self.question["kind"] == ORDER else stored_value(self.question, answer)
        except (ValueError, OverflowError):
            raise ValueError(self._needed()) from None

    def _order(self, answer: Any) -> list[int]:
        numbers = answer if isinstance(answer, list) and all(isinstance(one, int) for one in answer) else []
        if sorted(numbers) != list(range(len(self.question["lines"]))):
            raise ValueError("not each line once")
        return numbers

    def _needed(self) -> str:
        """What fits the question, in a sentence."""
        asked = self.question
        count = asked.get("count") or len(asked.get("options") or asked.get("lines") or [])
        sizes = {side: len(asked.get(side, [])) for side in ("rows", "columns")}
        return say(NEEDED["several" if asked.get("several") else asked["kind"]], count=count, **sizes)

    def is_right(self, answer: Any) -> bool:
        """Whether an answer as it is stored is right."""
        if self.question["kind"] == ORDER:
            return answer in self.key
        return is_right(self.question, answer, self.key)

    @property
    def has_lines(self) -> bool:
        """Whether its options are lines of code."""
        return bool(self.question.get("code"))

    @property
    def is_fault(self) -> bool:
        """Whether it asks for the faulty one of the lines of a program."""
        return self.has_lines and not self.code

    def explain(self, answer: Any) -> tuple[str, str]:
        """The sentence on an answer as it is stored, None if that is not known, and the line that it is about, if it
        is about one."""
        if self.is_fault:
            return self.why, str(self.key[0])
        chosen = answer[0] if self.has_lines and answer else ""
        return (self.whys[chosen], chosen) if chosen in self.whys else (self.why, "")

    def translate(self) -> Card:
        """The card in the reader's language, with its key."""
        folder = _folders().get(self.unit)

        def word(text: str) -> str:
            found = translate_text(text, folder)
            return say(text) if found == text else found

        question, key = {**self.question, "label": word(self.question["label"])}, self.key
        if question["kind"] == "choice" and not self.has_lines:
            question["options"] = [word(option) for option in question["options"]]
            key = [word(option) for option in key]
        for side in ("rows", "columns"):
            if side in question:
                question[side] = [word(name) for name in question[side]]
        headings = {"section": word(f"## {self.section}").lstrip("# "), "lesson": word(f"# {self.lesson}").lstrip("# ")}
        told = {text: say(TOLD, sentence=word(sentence)) for text, sentence in self.whys.items()}
        why = say(TOLD, sentence=word(self.why)) if self.is_fault else word(self.why)
        return replace(self, question=question, key=key, why=why, whys=told, title=word(self.title), **headings)


def cards_of(units: Iterable[str]) -> list[Card]:
    """The cards of these units, in their order; a unit without any, or with a damaged file, has none.

    There are none where two installed exercises have one name: that is told where the exercises are used.
    """
    try:
        folders = _folders()
    except registry.TwoExercises:
        return []
    return [card for unit in units if unit in folders for card in read_cards(unit, folders[unit])]


def read_cards(unit: str, folder: Path) -> list[Card]:
    """The cards in a unit's folder; none if it has no file of them, or a damaged one."""
    try:
        found = read_small_json(folder / FILE, MAX_BYTES)
        return [Card(unit=unit, lesson=found["lesson"], **one) for one in found["cards"]]
    except MALFORMED:
        return []


@lru_cache(maxsize=1)
def _folders() -> dict[str, Path]:
    """Unit -> its folder, of each installed course; a unit need not have exercises, but lies beside one that has."""
    beside = {exercise.folder.parent for exercise in registry.exercises() if exercise.folder}
    return {folder.name: folder for one in sorted(beside) if one.is_dir() for folder in sorted(one.iterdir())}
