"""Questions about one expression of the code: its shape, an entry, how many entries are True, how often it is run.

The key is found in the recording of fault localization, which rewrites every expression, and by noting this one
expression alone in another box. `find_again` finds it in a third way: Python's own tracing of the student's text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.probe import Case
from autograder.localize.instrument import Node
from autograder.localize.recorder import PLAIN, TENSOR
from autograder.localize.trace import Trace
from autograder.questions.edit import Span, in_one_line, line_text, literals, names_in, noting, with_variable
from autograder.questions.inputs import ExampleCall
from autograder.questions.question import CodeQuestion, KeyFinder, Kind
from autograder.questions.runs import CodeRunner

SHAPE = "What is the shape of `{what}` in line {line}?"
ENTRY = "What is entry {index} of `{what}` in line {line}?"
VALUE = "What is the value of `{what}` in line {line}?"
TRUTHS = "How many entries of `{what}` in line {line} are True?"
AFTER = {  # of a variable that the line assigns: it may have had another value before
    SHAPE: "What is the shape of `{what}` after line {line}?",
    ENTRY: "What is entry {index} of `{what}` after line {line}?",
    VALUE: "What is the value of `{what}` after line {line}?",
    TRUTHS: "How many entries of `{what}` are True after line {line}?",
}
TIMES = "How often is line {line} run in this call?"
PRODUCTS = "How many multiplications of two numbers do the matrix products take in this call, all together?"
GIVES = "Line {line} gives {key} there."
RUNS = "Line {line} is run {key} times."
COUNTED = "The sizes of each product, multiplied and added up, are {key}."
SKIPPED = ("load", "constant", "each", "statement", "shape", "size", "super", "Tuple", "List", "range", "set",
           "__init__", "Invert", "USub", "Not")  # fmt: skip
SIZE = re.compile(r"[\w.]+\.(shape\[.*\]|size\(.*\)|numel\(\))|len\(\w+\)")  # to be read in the inputs
INNER = {"for", "lambda"}  # a line with one of these has more than one count
MATRIX = ("MatMult", "matmul", "bmm", "mm")
LONGEST = 44  # characters of an expression that a question names
LARGEST = 1000  # of a number that is asked for
MOST_RUNS = 50


@dataclass(frozen=True)
class ExpressionValues:
    """What was seen of an expression in a call: its shapes, its first value, and how often it was computed."""

    shapes: tuple[tuple[int, ...], ...]
    first: np.ndarray | None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Its shape, if it had the same each time."""
        return self.shapes[0] if len(set(self.shapes)) == 1 else None


def recorded_values(trace: Trace, number: int) -> ExpressionValues | None:
    """What the recording has of a node."""
    values = [trace.values[event.version] for event in trace.events if event.node == number]
    if not values or any(one.data is None or one.kind not in (TENSOR, PLAIN) for one in values):
        return None
    return ExpressionValues(tuple(one.data.shape for one in values if one.data is not None), values[0].data)


def noted_values(run: CodeRunner, text: str, case: Case, begin: str = "_q_begin") -> ExpressionValues | None:
    """What the program notes of its expression."""
    found = run.notes(text, case, begin)
    notes = found[0] if found else []
    if not notes or any(type(one) is not list or len(one) != 2 or type(one[0]) is not list for one in notes):
        return None
    first = notes[0][1]
    return ExpressionValues(
        tuple(tuple(map(int, one[0])) for one in notes), None if first is None else np.asarray(first)
    )


Reading = Callable[[ExpressionValues], Any]  # the key in what was seen; None if it is not there


def shape_key(seen: ExpressionValues) -> list[int] | None:
    """The shape."""
    return list(seen.shape) if seen.shape else None


def entry_key(index: Sequence[int]) -> Reading:
    """One entry of what is computed once."""

    def read(seen: ExpressionValues) -> float | None:
        if len(seen.shapes) != 1 or seen.first is None or len(seen.first.shape) != len(index):
            return None
        value = float(seen.first[tuple(index)])
        return round(value, 2) + 0.0 if np.isfinite(value) else None

    return read


def truths_key(seen: ExpressionValues) -> int | None:
    """The number of entries that are True."""
    return int((seen.first != 0).sum()) if seen.first is not None and len(seen.shapes) == 1 else None


def questions(trace: Trace, run: CodeRunner, call: ExampleCall, rng: random.Random) -> Iterator[CodeQuestion]:
    """The questions about expressions, those on shapes and entries mixed. Each key was found in both ways."""
    text = run.code.text
    nodes = [(number, node) for number, node in enumerate(trace.table.nodes) if _is_asked(node, text)]
    rng.shuffle(nodes)
    nodes.sort(key=lambda pair: not (pair[1].name or pair[1].returned))
    for number, node in nodes:
        seen = recorded_values(trace, number)
        if seen is None:
            continue
        for topic, question, read in _offers(trace, node, number, seen, call, text, rng):
            key = read(seen)
            other = noted_values(run, noting(text, node.span), call.case)
            if key is not None and other is not None and read(other) == key:
                yield _made(topic, question, node, text, key, call, read)


def _is_asked(node: Node, text: str) -> bool:
    shown = in_one_line(text, node.span)
    if SIZE.fullmatch(shown):
        return False
    return node.operation not in SKIPPED and _what(node, text) != "" and shown.isprintable()


def _what(node: Node, text: str) -> str:
    """The variable that gets the value, or the expression; "" if it is too long to be named."""
    shown = node.name or in_one_line(text, node.span)
    return shown if len(shown) <= LONGEST and "`" not in shown else ""


Offer = tuple[str, tuple[str, dict[str, Any]], Reading]


def _offers(
    trace: Trace, node: Node, number: int, seen: ExpressionValues, call: ExampleCall, text: str, rng: random.Random
) -> Iterator[Offer]:
    """What can be asked of this expression and not be read in its line."""
    line = line_text(text, node.line)
    version = next(event.version for event in trace.events if event.node == number)
    value = trace.values[version]
    is_truth = value.dtype == 0
    if value.kind == TENSOR and seen.shape and not _reads_shape(line, seen.shape, call):
        yield "shape", (SHAPE, {}), shape_key
    if not call.shown.whole or seen.first is None or len(seen.shapes) != 1:
        return
    if is_truth and seen.first.size > 3 and 0 < truths_key(seen) < seen.first.size:  # type: ignore[operator]
        yield "truths", (TRUTHS, {}), truths_key
    elif not is_truth and (index := _entry(seen.first, line, rng)) is not None:
        asked = (ENTRY, {"index": list(index)}) if index else (VALUE, {})
        yield "value", asked, entry_key(index)


def _reads_shape(line: str, shape: tuple[int, ...], call: ExampleCall) -> bool:
    """Whether the shape stands in the line, in numbers or as that of an input with the same name."""
    words = names_in(line)
    same = [name for name, value in call.arguments.items() if tuple(getattr(value, "shape", ())) == shape]
    return set(map(float, shape)) <= literals(line) or bool(words & set(same))


def _entry(values: np.ndarray, line: str, rng: random.Random) -> tuple[int, ...] | None:
    """The place of an entry that says something: not 0 or 1 if there are others, with two decimals at most."""
    written = literals(line)
    places = [place for place in np.ndindex(values.shape) if _is_handy(float(values[place]), written)]
    if not places:
        return None
    telling = [place for place in places if values[place] not in (0, 1)]
    return rng.choice(telling or places)


def _is_handy(value: float, written: set[float]) -> bool:
    if not np.isfinite(value) or abs(value) > LARGEST or abs(value) in written:
        return False
    return abs(value * 100 - round(value * 100)) < 1e-3


def _made(
    topic: str, question: tuple[str, dict[str, Any]], node: Node, text: str, key: Any, call: ExampleCall, read: Reading
) -> CodeQuestion:
    asked, parts = question
    asked = AFTER[asked] if node.name else asked
    parts = {"what": _what(node, text), "line": node.line, **parts}
    kind: Kind = "shape" if topic == "shape" else "number"
    return CodeQuestion(topic, kind, node.line, asked, parts, key, call.shown, GIVES,
                        find_again=_key_again(call, node.span, read))  # fmt: skip


def _key_again(call: ExampleCall, span: Span, read: Reading) -> KeyFinder:
    """The key from Python's own tracing of the student's text, in which the value is put into a variable."""

    def find(run: CodeRunner) -> Any:
        seen = noted_values(run, with_variable(run.code.text, span), call.case, "_q_watch")
        return None if seen is None else read(seen)

    return find


def times(trace: Trace, run: CodeRunner, call: ExampleCall) -> Iterator[CodeQuestion]:
    """How often the lines of loops are run: those of one line, since Python comes back to the first of several."""
    text = run.code.text
    for number, node in enumerate(trace.table.nodes):
        if not (node.name and _is_asked(node, text)) or INNER & names_in(line_text(text, node.line)):
            continue
        if node.span[0] != node.span[2]:
            continue
        count = sum(event.node == number for event in trace.events)
        other = noted_values(run, noting(text, node.span), call.case)
        if 1 < count <= MOST_RUNS and other is not None and len(other.shapes) == count and not _is_written(count, text):
            parts = {"what": node.name, "line": node.line}
            yield CodeQuestion("times", "number", node.line, TIMES, parts, count, call.shown, RUNS,
                               find_again=_runs_of(call, node.line))  # fmt: skip


def _is_written(count: int, text: str) -> bool:
    return float(count) in literals(text)


def _runs_of(call: ExampleCall, line: int) -> KeyFinder:
    def find(run: CodeRunner) -> Any:
        found = run.notes(run.code.text, call.case, "_q_watch")
        return found[1].get(line) if found else None

    return find


def products(trace: Trace, run: CodeRunner, call: ExampleCall) -> Iterator[CodeQuestion]:
    """How many multiplications the matrix products take: from the recorded sizes, and as torch counts them."""
    found = [at for at in range(len(trace.events)) if trace.node(at).operation in MATRIX]
    sizes = [_multiplications(trace, at) for at in found]
    if not sizes or None in sizes:
        return
    total = sum(size for size in sizes if size is not None)
    line = trace.node(found[0]).line
    if total > 1 and run.products(run.code.text, call.case) == total and not _is_written(total, run.code.text):
        yield CodeQuestion("products", "number", line, PRODUCTS, {"what": "", "line": line}, total, call.shown,
                           COUNTED, find_again=_dispatched(call))  # fmt: skip


def _multiplications(trace: Trace, event: int) -> int | None:
    """Entries of the product times the size over which it sums; None where that was not recorded."""
    product = trace.values[trace.events[event].version].data
    factors = [trace.values[one].data for one in trace.operands[event]]
    tensors = [one for one in factors if one is not None and one.ndim]
    if product is None or not tensors:
        return None
    return int(product.size * tensors[0].shape[-1])


def _dispatched(call: ExampleCall) -> KeyFinder:
    def find(run: CodeRunner) -> Any:
        return run.products(run.code.text, call.case, "_q_dispatch_products")

    return find
