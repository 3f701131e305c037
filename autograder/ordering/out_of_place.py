"""The first line of a wrong order that is out of place, found by completing its beginnings and running them.

A beginning is completed in two ways: by the other lines as the answer has them, and by the rest of the statements that
it leaves open, innermost first, and then the others. The second is needed where a right order differs from the
answer's: a header may stand earlier there, and its body belongs under it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from autograder.exercises.parse import is_python
from autograder.feedback.translate import say
from autograder.ordering.lines import CodeLine, statements
from autograder.ordering.make import PlacedLine, Puzzle

OUT_OF_PLACE = (
    "Line {line} of your order is the first that is out of place: what stands above it can be completed to a right "
    "answer, and with this line it cannot."
)
MISPLACED_STEP = "Line {line} of your order is the first with a wrong indentation; nothing above it need change."
MISSING = "What you have is right so far: lines that are still missing complete it to a right answer."
UNSURE = "Which line is the first that is out of place cannot be told."

Order = Sequence[PlacedLine]
Passes = Callable[[str], bool]  # whether a program passes the exercise's checks


def first_wrong(puzzle: Puzzle, order: Order, passes: Passes) -> tuple[int | None, str]:
    """The first line out of place of an order that fails, from 1 on, and a sentence on it; None if none can be named.

    The longest beginning that can be completed counts, so every beginning of it can be completed as well.
    """
    order = _renumbered(puzzle, order)
    known = {puzzle.program(order): False}

    def completes(begin: Order) -> bool:
        for program in _programs(puzzle, begin):
            if program not in known:
                known[program] = passes(program)
            if known[program]:
                return True
        return False

    right = next((count for count in range(len(order), 0, -1) if completes(order[:count])), 0)
    if right == len(order):
        return None, say(MISSING)
    own, line = order[right], right + 1
    level = puzzle.line(own.number).level
    if own.level != level and completes([*order[:right], PlacedLine(own.number, level)]):
        return line, say(MISPLACED_STEP, line=line)
    if not any(map(is_python, _programs(puzzle, order[:line]))):
        return None, say(UNSURE)  # nothing could be run, so nothing has shown it
    return line, say(OUT_OF_PLACE, line=line)


def _programs(puzzle: Puzzle, begin: Order) -> list[str]:
    """The programs to which this beginning is completed."""
    return list(dict.fromkeys(puzzle.program(order) for order in completions(puzzle, begin)))


def completions(puzzle: Puzzle, begin: Order) -> Iterator[tuple[PlacedLine, ...]]:
    """The beginning of an order, not empty, followed by all other lines of the answer, in two ways."""
    used = {one.number for one in begin}
    yield (*begin, *(one for one in puzzle.right if one.number not in used))
    first = _rest_of_open(puzzle, begin)
    used |= {one.number for one in first}
    yield (*begin, *first, *(one for one in puzzle.right if one.number not in used))


def _rest_of_open(puzzle: Puzzle, begin: Order) -> list[PlacedLine]:
    """The lines that end the statements around the beginning's last line, indented as those statements are."""
    levels = {one.number: one.level for one in begin}
    at = [one.number for one in puzzle.right].index(begin[-1].number)
    found: dict[int, PlacedLine] = {}
    for start, end in _around(puzzle, at):
        head = puzzle.right[start]
        deeper = levels.get(head.number, head.level) - head.level
        for one in puzzle.right[start:end]:
            if one.number not in levels:
                found.setdefault(one.number, replace(one, level=max(0, one.level + deeper)))
    return list(found.values())


def _around(puzzle: Puzzle, at: int) -> list[tuple[int, int]]:
    """Start and end of each statement of the answer that contains its line `at`, from the innermost one out."""
    lines = [CodeLine(puzzle.line(one.number).text, one.level, n, n + 1) for n, one in enumerate(puzzle.right)]
    found: list[tuple[int, int]] = []
    start, end = 0, len(lines)
    while start <= at:
        part = next((one, stop) for one, stop in statements(lines, start, end) if one <= at < stop)
        found.insert(0, part)
        heads = [n for n in range(*part) if lines[n].level <= lines[part[0]].level]
        start = max(n for n in heads if n <= at) + 1
        end = min([part[1], *(n for n in heads if n > at)])
    return found


def _renumbered(puzzle: Puzzle, order: Order) -> list[PlacedLine]:
    """The same order, in which of lines with the same text each has the number of the one that belongs there.

    That is the one under the same header; or else, of those with the same indentation, the answer's first.
    """
    numbers = [one.number for one in puzzle.right]
    answer = {number: None if head is None else numbers[head]
              for number, head in zip(numbers, _headers(puzzle.right), strict=True)}  # fmt: skip
    found: list[PlacedLine] = []
    for one, head in zip(order, _headers(order), strict=True):
        text, above = puzzle.line(one.number).text, None if head is None else found[head].number
        left = [number for number in answer if puzzle.line(number).text == text]
        left = [number for number in left if number not in {placed.number for placed in found}]
        level = one.level
        best = min(left, key=lambda number: (answer[number] != above, puzzle.line(number).level != level))
        found.append(replace(one, number=best))
    return found


def _headers(order: Order) -> list[int | None]:
    """For each line the place of the one under which it is indented, None for those that are not."""
    return [next((n for n in reversed(range(at)) if order[n].level < one.level), None) for at, one in enumerate(order)]
