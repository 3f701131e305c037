"""Makes puzzles: the lines of an exercise's commonest right answer, shuffled among lines of known mistakes.

The commonest right answer is the one from which most collected mistakes start. A mistake that puts one line in the
place of one or two, or adds one, gives a distractor, so that the names in all lines are the same. Of a long answer a
part is to be put in order, and the rest is given. Loads no torch.
"""

from __future__ import annotations

import difflib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from autograder.api import Exercise
from autograder.exercises.answers import Answer, BadCorpus, EditedAnswer, answers
from autograder.exercises.contracts import without_adapter
from autograder.exercises.edits import apply_replacements
from autograder.exercises.variants import variant
from autograder.feedback.text import count_text
from autograder.ordering.lines import CannotSplit, CodeLine, indent, split, statements, suites

FEWEST, MOST = 3, 12  # lines to put in order
MAX_DISTRACTORS = 3
LINES_FOR_EACH = 3  # right lines for each distractor
MOST_REPLACED = 2  # lines whose place a distractor takes
SEEDS = range(1 << 32)
TOO_SHORT = "{exercise} has no lines to put in order: its answer has only {count}"
NO_ANSWERS = "{exercise} has no lines to put in order: no right answer with known mistakes is collected for it"
NO_MISTAKES = "{exercise} has no lines to put in order: no known mistake is in a single line of its answer"


class NoPuzzle(Exception):
    """The exercise has no lines to put in order; the message says why."""


@dataclass(frozen=True)
class PuzzleLine:
    """A line of a puzzle, without its indentation; of a distractor also the mistake's name and sentence.

    `place`: in the right answer; of a distractor that of the first line that it replaces, or before which it stands.
    """

    text: str
    level: int  # where it comes from, in steps from where the puzzle's lines begin
    place: int
    mistake: str = ""
    sentence: str = ""
    replaces: int = 0  # the number of lines whose place a distractor takes


@dataclass(frozen=True)
class PlacedLine:
    """A line as a student placed it: its number in the puzzle, from 1 on, and its indentation in steps."""

    number: int
    level: int


@dataclass(frozen=True)
class Puzzle:
    """Lines to put in order, between what is given of the answer; the student counts them from 1 on as they are here.

    `level`: of indentation at which they begin.
    """

    exercise: Exercise
    seed: int
    before: str
    after: str
    level: int
    lines: tuple[PuzzleLine, ...]

    @cached_property
    def right(self) -> tuple[PlacedLine, ...]:
        """The order of the answer from which the puzzle was made."""
        own = [(line.place, number) for number, line in enumerate(self.lines, 1) if not line.mistake]
        return tuple(PlacedLine(number, self.line(number).level) for _, number in sorted(own))

    def line(self, number: int) -> PuzzleLine:
        """The line of this number."""
        return self.lines[number - 1]

    def program(self, order: Sequence[PlacedLine]) -> str:
        """The program with the lines in this order."""
        middle = (indent(self.line(one.number).text, self.level + one.level) for one in order)
        return "\n".join(part for part in (self.before, *middle, self.after) if part) + "\n"

    def rows(self, order: Sequence[PlacedLine]) -> list[int]:
        """The number of the first row of each line of this order in the program, from 1 on."""
        found, row = [], self.before.count("\n") + 1 + bool(self.before)
        for one in order:
            found.append(row)
            row += self.line(one.number).text.count("\n") + 1
        return found

    def with_mistake(self, number: int) -> tuple[PlacedLine, ...]:
        """The right order with the distractor of this number where its mistake has it."""
        one = self.line(number)
        return (*self.right[: one.place], PlacedLine(number, one.level), *self.right[one.place + one.replaces :])


def make(exercise: Exercise, student: str | None = None, seed: int = 0) -> Puzzle:
    """The exercise's puzzle, shuffled for the student, by default the current user, and this seed. Raises NoPuzzle."""
    base = commonest(exercise)
    program = without_adapter(base.read_text(encoding="utf-8"))
    lines = _lines_of(exercise, program)
    mistakes = [one for kind in ("wrong", "edge") for one in answers(exercise, kind)]
    distractors = list(_distractors([one for one in mistakes if _starts_from(one, base)], lines, program))
    start, end = _part(exercise, lines, [place for place, _ in distractors])
    own = [PuzzleLine(line.text, line.level - lines[start].level, n) for n, line in enumerate(lines[start:end])]
    wrong = _different([_moved(one, start, lines[start].level) for _, one in distractors], own)
    if not wrong:
        raise NoPuzzle(NO_MISTAKES.format(exercise=exercise.id))
    rows = program.splitlines()
    before, after = rows[: lines[start].start], rows[lines[end - 1].end :]
    drawn = random.Random(variant(f"order/{exercise.id}/{seed}", student, shuffle=SEEDS).shuffle)
    chosen = drawn.sample(wrong, min(len(wrong), MAX_DISTRACTORS, max(1, len(own) // LINES_FOR_EACH)))
    return Puzzle(exercise, seed, "\n".join(before), "\n".join(after).strip("\n"), lines[start].level,
                  _shuffled([*own, *chosen], drawn))  # fmt: skip


def has_puzzle(exercise: Exercise) -> bool:
    """Whether the exercise has lines to put in order."""
    try:
        make(exercise, "")
    except (NoPuzzle, BadCorpus):
        return False
    return True


def commonest(exercise: Exercise) -> Answer:
    """The right answer from which most collected mistakes start. Raises NoPuzzle if there is none."""
    wrong = [one for one in answers(exercise, "wrong") if isinstance(one, EditedAnswer)]
    if not wrong:
        raise NoPuzzle(NO_ANSWERS.format(exercise=exercise.id))
    counts = Counter(one.base.stem for one in wrong)
    return min((one.base for one in wrong), key=lambda base: (-counts[base.stem], base.stem))


def _starts_from(mistake: Answer, base: Answer) -> bool:
    """Whether a mistake changes this answer, and costs something."""
    return isinstance(mistake, EditedAnswer) and mistake.base.stem == base.stem and mistake.score_share != 1


def _lines_of(exercise: Exercise, program: str) -> list[CodeLine]:
    try:
        return split(program)
    except CannotSplit as error:
        raise NoPuzzle(f"{exercise.id} has no lines to put in order: in its answer {error}") from None


def _distractors(
    mistakes: Sequence[Answer], lines: Sequence[CodeLine], program: str
) -> Iterator[tuple[int, PuzzleLine]]:
    """The line of each mistake that has a single one of its own, and its place among all lines of the answer."""
    old = [(line.text, line.level) for line in lines]
    for mistake in mistakes:
        assert isinstance(mistake, EditedAnswer)
        new = [(line.text, line.level) for line in split(apply_replacements(program, mistake.replacements))]
        blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        changed = [block for block in blocks if block[0] != "equal"]
        if len(changed) == 1:
            _, i1, i2, j1, j2 = changed[0]
            if j2 - j1 == 1 and i2 - i1 <= MOST_REPLACED:
                text, level = new[j1]
                yield i1, PuzzleLine(text, level, i1, mistake.stem, mistake.sentence, i2 - i1)


def _part(exercise: Exercise, lines: Sequence[CodeLine], places: Sequence[int]) -> tuple[int, int]:
    """The run of lines to put in order: of those that are not too long, the one with most mistakes, then most lines."""
    parts = [part for start, end in suites(lines) for part in _windows(lines, start, end)]
    if not parts:
        count = max((end - start for start, end in suites(lines)), default=0)
        raise NoPuzzle(TOO_SHORT.format(exercise=exercise.id, count=count_text(count, "line")))
    return max(parts, key=lambda part: (min(_within(part, places), MAX_DISTRACTORS), part[1] - part[0], -part[0]))


def _within(part: tuple[int, int], places: Sequence[int]) -> int:
    return sum(part[0] <= place < part[1] for place in places)


def _windows(lines: Sequence[CodeLine], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The whole run, or, of a longer one, as many statements after each as there is room for."""
    if end - start <= MOST:
        parts = [(start, end)]
    else:
        whole = statements(lines, start, end)
        parts = [(one, max([one, *(stop for _, stop in whole if one < stop <= one + MOST)])) for one, _ in whole]
    yield from (part for part in parts if part[1] - part[0] >= FEWEST)


def _moved(line: PuzzleLine, start: int, level: int) -> PuzzleLine:
    """A distractor as seen from where the puzzle's lines begin."""
    return PuzzleLine(line.text, line.level - level, line.place - start, line.mistake, line.sentence, line.replaces)


def _different(distractors: Sequence[PuzzleLine], own: Sequence[PuzzleLine]) -> list[PuzzleLine]:
    """The distractors that belong between these lines, and can be told from all of them and from each other."""
    inside = (one for one in distractors if 0 <= one.place <= len(own) - one.replaces and one.level >= 0)
    by_text = {one.text: one for one in inside}
    return [one for text, one in by_text.items() if text not in {line.text for line in own}]


def _shuffled(lines: Sequence[PuzzleLine], drawn: random.Random) -> tuple[PuzzleLine, ...]:
    """The lines in another order than they were given in."""
    while (found := drawn.sample(lines, len(lines))) == list(lines):
        continue
    return tuple(found)
