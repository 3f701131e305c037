"""The cards of each unit for spaced retrieval: `python -m course.cards [UNIT …]` writes `units/NAME/cards.json`.

They come from three places: the unit's `cards.toml`, questions with code that computes the key; collected mistakes, of
which the faulty line is to be found, or told from the right one; and short right answers, whose lines are to be put in
order. Every key is computed by running code: a faulty program must fail the checks and its repair must pass them, and
every order of the lines is judged.

    [parameters]
    kind = "number"                        # number, numbers, shape, choice or mask, as in a prediction
    section = "3 · Multi-head attention"   # the heading to read again
    question = "How many parameters …?"
    code = "layer = MultiHeadAttention(64, 8)"              # shown above the question, if it is there
    key = "sum(p.numel() for p in layer.parameters())"      # run below it; of a choice the text of an option
    why = "One sentence on the answer."

`setup`, at the top of the file and of each card, is run before and not shown; `options`, `several`, `rows`, `columns`,
`count` and `within` are those of the question.
"""

from __future__ import annotations

import itertools
import json
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from nbformat import NotebookNode

from autograder.api import Exercise
from autograder.checks.probe import QuestionSet, questions
from autograder.checks.reference import reference_of
from autograder.exercises import registry
from autograder.hunts import make as hunts
from autograder.ordering import make as ordering
from autograder.ordering.lines import indent
from autograder.ordering.prove import passes
from course import all_exercises, units
from course.files import write_if_new
from course.notebook import source_notebook
from course.settings import LessonError
from tfkit_course.command_line import make_parser
from tfkit_lab.lesson import KINDS
from tfkit_lab.questions import Question, stored_value
from tfkit_lab.recall.cards import FILE, ORDER

WRITTEN = "cards.toml"
FEWEST_ROWS, MOST_ROWS = 3, 12  # of a program in which a line is sought: more are not read in a minute
WRONG_LINES = 3  # beside the right one
LINES = range(3, 5)  # to put in order: all orders are run
MOST_RIGHT = 6  # orders of four lines: with more of them nearly any order would do
FAULT = "One line of a right answer was changed. Which one?"
PICK = "Which line belongs in the place of the dots?"
PICK_WHY = "The other lines belong to known mistakes."
IN_ORDER = "Put these lines in order."
ORDER_WHY = "What a line uses must be made above it; any order that passes the checks is right."
FAULTS = {  # where the mistake that the rule would choose looks odd, or another line of a right answer may have changed
    "attention.scaled_dot_product": "multiplied_by_sqrt_d",
    "mmbt.inputs": "regions_pooled",
    "objectives.denoise": "keep_marks_what_goes",
    "objectives.gap_sentences": "sentence_stays_in_the_input",
    "training.label_smoothing": "softmax_twice",
    "tuning.dpo": "squared_margin",
}
NOT_OFFERED = {  # beside a right line: what looks odd, and what is right in mathematics or in another model
    "modern.route/all_alike",
    "modern.route/exponential_overflows",
    "modern.route/sigmoid",
}
LEFT_OUT = {
    "inside.induction/order",  # its indentation leaves one order only
    "rnn.cell/pick",  # the right line is written in another style than all others
    "transformer.shift_right/fault",  # the line that shifts is missing, so none of those that are there is at fault
}
KEYS = {"kind", "section", "question", "setup", "code", "key", "why"}
CardData = dict[str, Any]


def cards(folder: Path) -> list[CardData]:
    """All cards of a unit, with their keys. Raises LessonError for an entry of cards.toml that cannot be used, and
    where a key is not what it must be."""
    lesson = _Lesson(folder)
    own = [exercise for exercise in all_exercises() if exercise.folder == folder]
    made = [card for exercise in own for make in (fault, pick, order)
            if f"{exercise.id}/{make.__name__}" not in LEFT_OUT and (card := make(exercise)) is not None]  # fmt: skip
    return [*_written(folder, lesson), *(_placed(card, lesson) for card in made)]


def _placed(card: CardData, lesson: _Lesson) -> CardData:
    """A card on an exercise, with where that is in the lesson."""
    place = lesson.place_of(card["exercise"])
    return {key: value for key, value in card.items() if key != "exercise"} | place


def fault(exercise: Exercise) -> CardData | None:
    """The card on the changed line of a short answer, a mistake of concept where there is one; None without any.

    It asks for the line that was changed and not for the one to repair, since a fault can often be made up for in
    another line.

    Raises LessonError if the program passes, or its repair does not.
    """
    short = [hunt for hunt in _single_lines(exercise) if FEWEST_ROWS <= len(_body(hunt.code)) <= MOST_ROWS]
    if not short:
        return None
    named = [hunt for hunt in short if hunt.names == (FAULTS.get(exercise.id),)]
    hunt = max(named or short, key=lambda one: (one.faults[0].conceptual, -len(_body(one.code)), one.id))
    asked = _asked(exercise)
    if passes(hunt.code, asked) or not passes(hunt.repair, asked):
        raise LessonError(f"{hunt.id}: the faulty code passes, or its repair does not")
    ((line,),) = hunt.fault_lines
    options = {number: f"{place}: {text}" for place, (number, text) in enumerate(_rows(hunt.code), 1)}
    question = {**KINDS["choice"](FAULT, *options.values()), "code": True}
    return {"id": f"{exercise.id}/fault", "exercise": exercise.id, "title": exercise.title, "question": question,
            "key": [options[line]], "why": _first_words(hunt.faults[0].sentence)}  # fmt: skip


def pick(exercise: Exercise) -> CardData | None:
    """The card that asks for the right line among those of known mistakes, in an answer of a line or two; None where
    there are too few of them. Raises LessonError if one of these passes, or the answer does not."""
    short = [hunt for hunt in _single_lines(exercise) if len(_body(hunt.code)) < FEWEST_ROWS]
    places = Counter((hunt.repair, hunt.fault_lines) for hunt in short)
    if not places or max(places.values()) < WRONG_LINES:
        return None
    repair, ((line,),) = (place := max(places, key=lambda one: places[one]))
    wrong = {_line(hunt.code, line): hunt for hunt in short if (hunt.repair, hunt.fault_lines) == place}
    wrong = {text: hunt for text, hunt in wrong.items() if hunt.id not in NOT_OFFERED}
    chosen = sorted(wrong, key=lambda text: (not wrong[text].faults[0].conceptual, wrong[text].id))[:WRONG_LINES]
    asked = _asked(exercise)
    if not passes(repair, asked) or any(passes(wrong[text].code, asked) for text in chosen):
        raise LessonError(f"{exercise.id}: the answer does not pass, or a line of a known mistake does")
    options = random.Random(exercise.id).sample([right := _line(repair, line), *chosen], len(chosen) + 1)
    question = {**KINDS["choice"](PICK, *options), "code": True}
    rows = repair.splitlines()
    rows[line - 1] = f"{' ' * (len(rows[line - 1]) - len(rows[line - 1].lstrip()))}…"
    return {"id": f"{exercise.id}/pick", "exercise": exercise.id, "title": exercise.title, "question": question,
            "key": [right], "why": PICK_WHY, "code": _without_imports(rows),
            "whys": {text: _first_words(wrong[text].faults[0].sentence) for text in chosen}}  # fmt: skip


def _single_lines(exercise: Exercise) -> Iterator[hunts.Hunt]:
    """The exercise's hunts in which one line stands in the place of one."""
    for hunt in hunts.hunts(exercise):
        replaced = hunt.faults[0].replacements
        if len(replaced) == 1 and replaced[0].end - replaced[0].start == len(replaced[0].lines) == 1:
            yield hunt


def _line(code: str, number: int) -> str:
    return code.splitlines()[number - 1].strip()


def _rows(code: str) -> list[tuple[int, str]]:
    """The lines of a program with their numbers, without blank ones and imports."""
    numbered = enumerate(code.splitlines(), 1)
    return [(number, line) for number, line in numbered if line.strip() and not line.startswith(("import ", "from "))]


def _without_imports(rows: Sequence[str]) -> str:
    """The text of these lines as a card shows it: imports and the blank lines around them take up its room."""
    return "\n".join(row for row in rows if not row.startswith(("import ", "from "))).strip("\n")


def _body(code: str) -> list[tuple[int, str]]:
    """Those of its lines that are indented."""
    return [(number, line) for number, line in _rows(code) if line.startswith(" ")]


def _first_words(sentence: str) -> str:
    """The first paragraph of a mistake's sentence, in one line."""
    return " ".join(sentence.split("\n\n")[0].split())


def order(exercise: Exercise) -> CardData | None:
    """The card with the lines of a short answer, without lines of mistakes; None where there is none.

    Each line keeps its indentation. Every order is run; LessonError if the answer's own is not right.
    """
    try:
        puzzle = ordering.make(exercise, "")
    except ordering.NoPuzzle:
        return None
    if len(puzzle.right) not in LINES or len(_rows(puzzle.program(puzzle.right))) > MOST_ROWS:
        return None
    asked, own = _asked(exercise), list(puzzle.right)
    right = [one for one in itertools.permutations(range(len(own)))
             if passes(puzzle.program([own[place] for place in one]), asked)]  # fmt: skip
    if tuple(range(len(own))) not in right:
        raise LessonError(f"{exercise.id}: the answer's own order of lines does not pass")
    if len(right) > MOST_RIGHT:
        return None
    shuffled = _shuffled(exercise.id, right, len(own))
    texts = [indent(puzzle.line(one.number).text, puzzle.level + one.level) for one in own]
    question = {"kind": ORDER, "label": IN_ORDER, "lines": [texts[place] for place in shuffled]}
    return {"id": f"{exercise.id}/order", "exercise": exercise.id, "title": exercise.title, "question": question,
            "key": [[shuffled.index(place) for place in one] for one in right], "why": ORDER_WHY,
            "before": _without_imports(puzzle.before.splitlines()), "after": puzzle.after}  # fmt: skip


def _shuffled(name: str, right: Sequence[tuple[int, ...]], count: int) -> tuple[int, ...]:
    """An order that is not right, always the same for this name."""
    wrong = [one for one in itertools.permutations(range(count)) if one not in right]
    return random.Random(name).choice(wrong)


def _asked(exercise: Exercise) -> list[QuestionSet]:
    return list(questions(registry.check_function(exercise)(), reference_of(exercise), f"cards/{exercise.id}"))


def _written(folder: Path, lesson: _Lesson) -> Iterator[CardData]:
    """The cards of cards.toml, each with the key that its code gives."""
    path = folder / WRITTEN
    if not path.is_file():
        return
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    setup = found.pop("setup", "")
    for name, entry in found.items():
        where = f"{folder.name}/{WRITTEN}, {name}"
        if missing := sorted(KEYS - {"setup", "code"} - entry.keys()):
            raise LessonError(f"{where} needs {missing[0]}")
        question = _question(where, entry)
        key = _run(where, question, "\n".join([setup, entry.get("setup", ""), entry.get("code", "")]), entry["key"])
        code = {"code": entry["code"].strip("\n")} if "code" in entry else {}
        number = folder.name.partition("-")[0]
        yield {"id": f"{number}.{name}", "question": question, "key": key, "why": entry["why"],
               **lesson.place(where, entry["section"]), **code}  # fmt: skip


def _question(where: str, entry: dict[str, Any]) -> Question:
    named = {key: value for key, value in entry.items() if key not in KEYS}
    options = named.pop("options", [])
    try:
        make: Callable[..., Question] = KINDS[entry["kind"]]
        return make(entry["question"], *options, **named)
    except (KeyError, TypeError, ValueError) as error:
        raise LessonError(f"{where} is no question: {type(error).__name__}: {error}") from error


def _run(where: str, question: Question, code: str, key: str) -> Any:
    """What the key's expression gives below the code, as an answer to the question is stored."""
    names: dict[str, Any] = {}
    torch.manual_seed(0)
    try:
        exec(compile(code, where, "exec"), names)
        return stored_value(question, eval(compile(key, where, "eval"), names))
    except Exception as error:
        raise LessonError(f"{where} has no key: {type(error).__name__}: {error}") from error


class _Lesson:
    """Where the headings of a lesson are: cells have the ids of its notebook."""

    def __init__(self, folder: Path) -> None:
        self.unit, self._headings, self._exercises = folder.name, dict[str, str](), dict[str, dict[str, str]]()
        last = {"section": "", "cell": ""}
        for cell in source_notebook(folder).cells:
            for heading in _headings(cell):
                last = {"section": heading, "cell": str(cell.id)}
                self._headings.setdefault(heading, str(cell.id))
            mark = cell.metadata.get("tfkit", {})
            if mark.get("role") == "exercise":
                self._exercises[mark["exercise"]] = last

    def place(self, where: str, section: str) -> dict[str, str]:
        """The section and its cell. Raises LessonError if the lesson has no such heading."""
        if section not in self._headings:
            raise LessonError(f"{where}: the lesson has no heading {section!r}; it has {', '.join(self._headings)}")
        return {"section": section, "cell": self._headings[section]}

    def place_of(self, exercise: str) -> dict[str, str]:
        """The same for an exercise."""
        return self._exercises[exercise]

    @property
    def title(self) -> str:
        """The lesson's own heading."""
        return next(iter(self._headings))


def _headings(cell: NotebookNode) -> list[str]:
    lines = cell.source.splitlines() if cell.cell_type == "markdown" else []
    return [line.lstrip("#").strip() for line in lines if line.startswith(("# ", "## "))]


def text_of(folder: Path) -> str:
    """The text of a unit's cards.json."""
    whole = {"lesson": _Lesson(folder).title, "cards": cards(folder)}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when all cards are written."""
    parser = make_parser(
        "course.cards",
        """
        Run the questions of each unit's cards.toml, its collected mistakes and the orders of its short answers, and
        write the cards with which later units open, with their keys, into cards.json.
        """,
        exits={0: "all cards are written", 1: "a card cannot be made; one line on standard error says which"},
        examples=("python -m course.cards", "python -m course.cards 03-heads"),
    )
    parser.add_argument("units", nargs="*", metavar="UNIT", help="only these units; by default all")
    options = parser.parse_args(arguments)
    folders = {folder.name: folder for folder in units()}
    if unknown := [name for name in options.units if name not in folders]:
        parser.exit(1, f"course.cards: no unit is called {unknown[0]!r}; available: {', '.join(folders)}\n")
    for name in options.units or folders:
        try:
            text = text_of(folders[name])
        except LessonError as error:
            parser.exit(1, f"course.cards: {error}\n")
        changed = write_if_new(folders[name] / FILE, text)
        print(
            f"{'wrote    ' if changed else 'unchanged'} {folders[name] / FILE}: {len(json.loads(text)['cards'])} cards"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
