"""Questions about what a small change of a line does. Every choice is the result of a variant that was run.

A change is made twice: in the syntax tree, from which the program is written anew, and in the student's text, which
runs in another box on inputs in float64.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_flatten

from autograder.checks.compare import RaisedError, compare
from autograder.checks.operators import (
    NodeChange,
    Operator,
    change_comparison,
    change_constant,
    change_function,
    change_operator,
    changes,
    drop_argument,
    drop_call,
    drop_sign,
    drop_term,
    swap,
)
from autograder.checks.probe import NotRun, Probe, observe
from autograder.diagnosis.compose import subject_of
from autograder.diagnosis.limit import TimeLimitExceeded, time_limit
from autograder.diagnosis.rewrites import MODULES
from autograder.exercises.answers import answers
from autograder.exercises.parse import parse_source
from autograder.feedback.translate import say
from autograder.questions.edit import edits, line_text
from autograder.questions.inputs import ExampleCall, double, in_own_form, value_text
from autograder.questions.question import CodeQuestion, KeyFinder
from autograder.questions.runs import CodeRunner
from autograder.questions.turns import in_turn

VARIANT = "Line {line} is changed to `{what}`. What does the call give then?"
GIVES = "With the changed line {line} it gives: {key}."
STOPS = "it stops with an error"
SAME = "the same as before"
OTHER_SHAPE = "a result of shape {shape}"
OTHER_VALUES = "other values in the same shape"
OTHER = "another result"
OPERATORS = (change_constant, change_operator, change_comparison, drop_sign, change_function, swap, drop_call,
             drop_term, drop_argument)  # fmt: skip
MOST = 28  # variants that are run
MOST_STEPS = 60  # that are left out: if there are more, no line is asked for
MOST_SHOWN = 140  # characters of a result
OPTIONS = 4
MISTAKES = 6  # collected wrong answers that are run for further choices
MISTAKE_S = 5.0  # processor time of each, so long that only those that do not end are left out
LEAST = 3  # options of a question


def drop_function(node: ast.AST) -> Iterator[ast.AST]:
    """`torch.where(c, a, b)` becomes `a`, or `b`: what a function of a module is given after its first argument."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
        method = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in MODULES
        if not method:
            yield from (one for one in node.args[1:] if not isinstance(one, ast.Starred | ast.Constant))


def drop_slice(node: ast.AST) -> Iterator[ast.AST]:
    """`x[:, 1:]` becomes `x`, and `x[..., 0]` too."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple | ast.Slice):
        yield node.value


def drop_not(node: ast.AST) -> Iterator[ast.AST]:
    """`~mask` becomes `mask`, and `-x` becomes `x`; but -1 stays, which is an axis or an index."""
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield node.operand


NEUTRAL = (drop_call, drop_function, drop_slice, drop_term, drop_not)  # these leave a step out


@dataclass(frozen=True)
class ChangedCode:
    """The code with one change: as a program from its tree, and as the edited text."""

    line: int
    new: str  # the line as it reads then
    program: str
    text: str


def variants(
    text: str, lines: Collection[int], rng: random.Random, operators: Sequence[Operator] = OPERATORS, most: int = MOST
) -> list[ChangedCode]:
    """Changes of these lines of the code, of as many of them as there are."""
    try:
        tree = parse_source(text)
    except SyntaxError:
        return []
    made = edits(text, _made(tree, operators))
    found = [
        ChangedCode(line, line_text(edited, line), program, edited) for program, edited, line in made if line in lines
    ]
    rng.shuffle(found)
    by_line: dict[int, list[ChangedCode]] = {}
    for one in {one.text: one for one in found}.values():
        by_line.setdefault(one.line, []).append(one)
    return in_turn(by_line.values())[:most]


def steps(text: str, lines: Collection[int], rng: random.Random) -> list[ChangedCode]:
    """All variants that leave out a step of these lines; none if there are too many to run them all."""
    found = variants(text, lines, rng, NEUTRAL, MOST_STEPS + 1)
    return found if len(found) <= MOST_STEPS else []


def _made(tree: ast.Module, operators: Sequence[Operator]) -> Iterator[tuple[ast.Module, ast.AST, ast.AST, ast.AST]]:
    """The tree with each change in turn, the old node, the new one and their parent."""
    for definition in tree.body:
        if isinstance(definition, ast.FunctionDef | ast.ClassDef):
            for change in changes(definition, operators):
                if not _says_little(change):
                    change.make()
                    yield tree, change.node, change.other, change.parent
                    change.undo()


def _says_little(change: NodeChange) -> bool:
    """Results that change places, a text in the place of a call, and `mask` for `scores.masked_fill(mask, 0.0)`."""
    if isinstance(change.node, ast.Tuple) and isinstance(change.parent, ast.Return):
        return True
    if isinstance(change.other, ast.Constant) and isinstance(change.other.value, str):
        return True
    called = change.node.func if isinstance(change.node, ast.Call) and change.operator == "drop_call" else None
    is_method = isinstance(called, ast.Attribute) and ast.unparse(called.value) not in MODULES
    return is_method and isinstance(called, ast.Attribute) and change.other is not called.value


def questions(
    run: CodeRunner, call: ExampleCall, among: Sequence[ChangedCode], rng: random.Random
) -> Iterator[CodeQuestion]:
    """What a change of a line makes of the result; the changes that make most of it first."""
    before = run.result(run.code.text, call.case)
    if isinstance(before, RaisedError):
        return
    in_full = call.shown.whole and _is_short(before)
    told = [(one, words_for(run.result(one.program, call.case), before, call, in_full)) for one in among]
    unchanged = _in_full(before) if in_full else say(SAME)
    every = [unchanged, *(words for _, words in told), *_mistakes(run, call, before, in_full, rng)]
    told.sort(key=lambda pair: _dullness(pair[1], unchanged, every))
    other = double(call.case)
    if isinstance(run.result(run.code.text, other), RaisedError):
        other = call.case
    with CodeRunner(run.code, run.backend, run.budget) as second:
        start = second.result(run.code.text, other)
        for variant, words in told:
            options = _options(words, unchanged, every, rng)
            if len(options) < LEAST or not words:
                continue
            again = words_for(run.result(variant.program, call.case), before, call, in_full)  # once more in this box
            if again == words == words_for(second.result(variant.text, other), start, call, in_full):
                parts = {"what": variant.new, "line": variant.line}
                yield CodeQuestion("variant", "choice", variant.line, VARIANT, parts, options.index(words),
                                   call.shown, GIVES, tuple(options),
                                   find_again=_key_again(variant, call, in_full, options))  # fmt: skip


def _mistakes(run: CodeRunner, call: ExampleCall, before: Any, in_full: bool, rng: random.Random) -> Iterator[str]:
    """What a few of the exercise's collected wrong answers give for the call: they are ours, so they run here."""
    collected = answers(run.code.exercise, "wrong")
    for answer in rng.sample(collected, min(MISTAKES, len(collected))):
        try:
            with time_limit(MISTAKE_S):
                subject = in_own_form(run.code.exercise, subject_of(answer))
                yield words_for(observe(subject, Probe(call.case.value, call.case)), before, call, in_full)
        except (TimeLimitExceeded, NotRun):
            continue


def _dullness(words: str, unchanged: str, every: Sequence[str]) -> tuple[bool, bool, bool, int]:
    """Errors, numbers that are none, and what many variants give come last."""
    return words == say(STOPS), "nan" in words or "inf" in words, words == unchanged, every.count(words)


def _options(words: str, unchanged: str, every: Sequence[str], rng: random.Random) -> list[str]:
    """The key among results of other variants and the unchanged one, all different, in an order that is drawn."""
    others = [one for one in dict.fromkeys(every) if one not in (words, unchanged, say(STOPS), "")]
    rng.shuffle(others)
    others.sort(key=lambda one: "nan" in one or "inf" in one)
    wrong = [one for one in (unchanged, *others, say(STOPS)) if one != words and one in every]
    options = [words, *wrong[: OPTIONS - 1]]
    rng.shuffle(options)
    return options


def _key_again(variant: ChangedCode, call: ExampleCall, in_full: bool, options: Sequence[str]) -> KeyFinder:
    """The key from the recording of the edited text, which keeps the result too; none for code that stops when it is
    recorded, as in `inference_mode`.
    """

    def find(run: CodeRunner) -> Any:
        before = run.result(run.code.text, call.case)
        unchanged = run.trace(run.code.text, call.case)
        if unchanged is not None and isinstance(unchanged[1], RaisedError):
            return None
        found = run.trace(variant.text, call.case)
        value = found[1] if found else run.result(variant.text, call.case)
        words = words_for(value, before, call, in_full)
        return options.index(words) if words in options else None

    return find


def _is_short(value: Any) -> bool:
    return len(value_text(value)) <= MOST_SHOWN


def _in_full(value: Any) -> str:
    return f"`{value_text(value)}`"


def words_for(value: Any, before: Any, call: ExampleCall, in_full: bool) -> str:
    """A result in full, or how it differs from the unchanged code's; "" if it cannot be told."""
    if isinstance(value, RaisedError):
        return say(STOPS) if value.kind == "exception" else ""
    if in_full:
        words = _in_full(value)
        return words if len(words) <= MOST_SHOWN else ""
    if compare(before, value, call.case.tolerance) is None:
        return say(SAME)
    old, new = _shapes(before), _shapes(value)
    if old == new:
        return say(OTHER_VALUES) if new else say(OTHER)
    return say(OTHER_SHAPE, shape=list(new[0])) if len(new) == len(old) and new[0] != old[0] else ""


def _shapes(value: Any) -> list[tuple[int, ...]]:
    return [tuple(leaf.shape) for leaf in tree_flatten(value)[0] if isinstance(leaf, Tensor)]
