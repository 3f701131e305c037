"""Draws the smallest failing case as small matrices: a heat map, hatching for False, an outline for wrong entries."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from autograder.feedback.translate import say
from autograder.feedback.words import place, places, sentence, size, with_label

WIDEST = 12  # rows and columns of a matrix
MAX_MATRICES = 4  # matrices of one tensor
LONGEST = 200  # characters of a value that is not a matrix
LEVELS = 4  # of heat
FLOW = (
    "Rows: outputs; columns: inputs. ● depends on it, ▲ depends on it but must not, ○ should depend on it but does not."
)
FLOW_CLASSES = {"●": "tfkit-h3", "▲": "tfkit-wrong", "○": "tfkit-wrong"}
UNKNOWN = "?"
TICKED = re.compile(r"`([^`<]{1,200})`")
HOLDS = "what must hold"
SECTION = "Shown are {part} entries of {whole}, from {place} on."


@dataclass(frozen=True)
class Matrix:
    """Rows of numbers, booleans or texts; `vector`: one row that stands for a tensor of one axis."""

    name: str
    rows: list[list[Any]]
    wrong: list[list[bool]] | None = None
    vector: bool = False

    @property
    def largest(self) -> float:
        """The value of the darkest cell."""
        sizes = [abs(x) for row in self.rows for x in row if _is_number(x) and math.isfinite(x)]
        return max(sizes, default=0.0)


def matrices(name: str, value: Any, wrong: Any = None) -> list[Matrix]:
    """The matrices in nested lists, each with a name: `scores, batch 0, head 1`; none if the value is not a tensor of
    numbers."""
    depth = _depth(value)
    if not depth or _size(value) == 0:
        return []
    if depth == 1:
        return [Matrix(name, [value], [wrong] if wrong else None, vector=True)]
    return [
        Matrix(", ".join([name, *_leading(where, depth)]), rows, _at(wrong, where) if wrong else None)
        for where, rows in _slices(value, depth - 2)
    ]


def _leading(where: tuple[int, ...], depth: int) -> list[str]:
    """The words for the leading axes, or none if there is only one matrix."""
    return place((*where, 0, 0)).split(", ")[: depth - 2] if where else []


def _slices(value: Any, axes: int) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Each matrix with its index, which is () if there is only one."""
    found = list(_walk(value, axes, ()))
    yield from [((), found[0][1])] if len(found) == 1 else found


def _walk(value: Any, axes: int, where: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    if axes == 0:
        yield where, value
        return
    for index, part in enumerate(value):
        yield from _walk(part, axes - 1, (*where, index))


def _at(tree: Any, where: tuple[int, ...]) -> Any:
    for index in where:
        tree = tree[index]
    while _depth(tree) > 2:
        tree = tree[0]
    return tree


def _depth(value: Any) -> int:
    """The axes of nested lists of equal lengths with numbers, booleans, "nan" and "inf" in them; 0 for anything
    else."""
    if not isinstance(value, list | tuple) or not value:
        return 0
    if all(_is_entry(part) for part in value):
        return 1
    depths = {_depth(part) for part in value}
    alike = len(depths) == 1 and 0 not in depths and len({len(part) for part in value}) == 1
    return 1 + depths.pop() if alike else 0


def _size(value: Any) -> int:
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_entry(value: Any) -> bool:
    return isinstance(value, int | float) or value in ("nan", "inf", "-inf", UNKNOWN)


def entry_text(value: Any) -> str:
    """An entry as a text."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def render_matrix(matrix: Matrix) -> str:
    """A table with its name above it and the indices of rows and columns beside it."""
    width = len(matrix.rows[0])
    columns = list(range(min(width, WIDEST)))
    heads = "".join(f'<th scope="col">{column}</th>' for column in columns) + ("<th>…</th>" if width > WIDEST else "")
    corner = f"<th>{say('entry') if matrix.vector else say('row / column')}</th>"
    lines = [f"<tr>{corner}{heads}</tr>"]
    for index, row in enumerate(matrix.rows[:WIDEST]):
        cells = "".join(_cell(matrix, index, column, row[column]) for column in columns)
        name = '<td class="tfkit-v-none"></td>' if matrix.vector else f'<th scope="row">{index}</th>'
        lines.append(f"<tr>{name}{cells}{'<td>…</td>' if width > WIDEST else ''}</tr>")
    if len(matrix.rows) > WIDEST:
        lines.append("<tr><th>…</th></tr>")
    return (
        f'<div class="tfkit-v-box" tabindex="0"><table class="tfkit-v-m"><caption>{escape(matrix.name)}</caption>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell(matrix: Matrix, row: int, column: int, value: Any) -> str:
    wrong = bool(matrix.wrong and matrix.wrong[row][column])
    classes = [name for name in (_heat(value, matrix.largest), "tfkit-wrong" if wrong else "") if name]
    style = f' class="{" ".join(classes)}"' if classes else ""
    return f"<td{style}>{'✗ ' if wrong else ''}{escape(entry_text(value))}</td>"


def _heat(value: Any, largest: float) -> str:
    if value == UNKNOWN:
        return "tfkit-unknown"
    if isinstance(value, bool):
        return "tfkit-h2" if value else "tfkit-hidden-cell"
    if not _is_number(value) or not math.isfinite(value) or not value or not largest:
        return ""
    return f"tfkit-{'h' if value > 0 else 'n'}{max(1, math.ceil(LEVELS * abs(value) / largest))}"


def flow(rows: Sequence[str], whose: str = "yours") -> str:
    """Which inputs affect which outputs, a row per output and a column per input: as it is and as it should be; ""
    without a map. whose: the name of the map as it is."""
    if not rows:
        return ""
    right = ["".join("●" if sign in "●○" else "·" for sign in row) for row in rows]
    tables = _signs(say(whose), rows) + _signs(say("what may be seen"), right)
    return f'<div class="tfkit-v-row">{tables}</div><small>{say(FLOW)}</small>'


def _signs(name: str, rows: Sequence[str]) -> str:
    shown = [row[: 2 * WIDEST] for row in rows[: 2 * WIDEST]]
    heads = "".join(f'<th scope="col">{column}</th>' for column in range(max(map(len, shown))))
    lines = [f"<tr><th>{say('output / input')}</th>{heads}</tr>"]
    for number, row in enumerate(shown):
        cells = "".join(f'<td class="{FLOW_CLASSES.get(sign, "")}">{escape(sign)}</td>' for sign in row)
        lines.append(f'<tr><th scope="row">{number}</th>{cells}</tr>')
    return (
        f'<div class="tfkit-v-box" tabindex="0"><table class="tfkit-v-m tfkit-v-flow"><caption>{name}</caption>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def corner(value: Mapping[str, Any]) -> str:
    """`The first 8 × 8 of 2 × 16 × 16.`, for a tensor that is drawn in part; "" if it is drawn whole.

    `start`: where the part begins, if it is not the first one.
    """
    shown, shape = value.get("value"), value.get("shape")
    count = 1
    for one in shape or ():
        count *= one
    if not shown or _size(shown) == count:
        return ""
    sizes = [len(shown), len(shown[0])] if _depth(shown) == 2 else [len(shown)]
    if start := value.get("start"):
        return say(SECTION, part=size(sizes), whole=size(shape), place=place(start))
    return say("The first {part} of {whole}.", part=size(sizes), whole=size(shape))


def mark_code(html: str) -> str:
    """HTML with the parts between backticks as code."""
    return TICKED.sub(r"<code>\1</code>", html)


def inputs_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the call by name, in its order: a notebook file has names in alphabetical order."""
    inputs, order = given.get("inputs"), given.get("order")
    if not isinstance(inputs, Mapping):
        return {}
    first = [name for name in order if name in inputs] if isinstance(order, list) else []
    return {name: inputs[name] for name in dict.fromkeys([*first, *inputs])}


def example(given: Mapping[str, Any]) -> str:
    """The smallest counter-example: the call, its inputs, its result and what must hold, with a sentence."""
    inputs = inputs_of(given)
    known = (
        "call",
        "inputs",
        "order",
        "expected_shape",
        "entry",
        "off_by",
        "message",
        "first_wrong_entry",
        "first_wrong_step",
        "part",
    )
    inputs = {**inputs, **{name: value for name, value in given.items() if name not in (*known, "yours", "wrong")}}
    tables = [table for name, value in inputs.items() for table in matrices(str(name), value)[:MAX_MATRICES]]
    plain = ", ".join(
        f"{name} = {entry_text(value)[:LONGEST]}" for name, value in inputs.items() if not matrices("", value)
    )
    call = f"<code>{escape(str(given['call'])[:LONGEST])}</code>" if given.get("call") else ""
    given_with = f" {say('with')} {escape(plain)}" if plain else ""
    name = f"<b>{say('The smallest example found')}</b>"
    title = f"<p>{with_label(name, call) if call else name}{given_with}</p>"
    boxes = "".join(map(render_matrix, [*tables, *answers(given)]))
    words = "".join(f"<p>{mark_code(escape(text))}</p>" for text in sentences(given))
    return f'<div class="tfkit-v-example">{title}<div class="tfkit-v-row">{boxes}</div>{words}</div>'


def answers(given: Mapping[str, Any]) -> list[Matrix]:
    """The student's answer with its wrong entries marked, and the part of it that is right."""
    wrong, yours = given.get("wrong"), given.get("yours")
    own = matrices(say("your answer") + str(given.get("part") or "")[:10], yours, wrong)[:MAX_MATRICES]
    return own + (entries_that_hold(yours, wrong) if own else [])


def entries_that_hold(yours: Any, wrong: Any) -> list[Matrix]:
    """The entries of the student's value that are right, with a sign in place of the others; none if none is known."""
    found = matrices(say(HOLDS), _masked(yours, wrong))[:MAX_MATRICES] if wrong is not None else []
    return found if any(entry != UNKNOWN for matrix in found for row in matrix.rows for entry in row) else []


def _masked(value: Any, wrong: Any) -> Any:
    if isinstance(value, list) and isinstance(wrong, list):
        return [_masked(one, other) for one, other in zip(value, wrong, strict=False)]
    return UNKNOWN if wrong else value


def sentences(given: Mapping[str, Any], already_shown: Sequence[str] = ()) -> list[str]:
    """Sentences on what the pictures show, without those in `already_shown`."""
    message, shape = str(given.get("message") or ""), given.get("expected_shape")
    shown = [sentence(places(message))[: 10 * LONGEST]] if message and message not in already_shown else []
    if isinstance(given.get("yours"), bool | int | float | str):
        shown.append(say("Your answer is {value}.", value=entry_text(given["yours"])[:LONGEST]))
    if shape and given.get("wrong") is None and str(list(shape)) not in message:
        shown.append(say("A right answer has shape {shape}.", shape=list(shape)))
    first, most = given.get("first_wrong_entry"), given.get("entry")
    if first and first != most:
        shown.append(say("The first wrong entry is at {place}.", place=place(first)))
    if given.get("first_wrong_step"):
        shown.append(say("The first step that goes wrong: {step}.", step=given["first_wrong_step"])[:LONGEST])
    if any(matrix.name.startswith(say(HOLDS)) for matrix in answers(given)):
        shown.append(say("✗ marks the wrong entries of your answer; ? marks those that have to change."))
    return shown
