"""Questions about who depends on whom: which rows of the result change with one row of an input, and which line of the
code sees to it that one does not.

The keys are found by changing the row, by gradients where there are any, and else by other changes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten

from autograder.checks.compare import RaisedError
from autograder.checks.probe import Case, float_leaves
from autograder.feedback.translate import say
from autograder.questions.edit import line_text, plain_lines
from autograder.questions.inputs import ExampleCall, double
from autograder.questions.question import CodeQuestion, KeyFinder
from autograder.questions.runs import CodeRunner
from autograder.questions.variants import ChangedCode
from autograder.sandbox.client import StudentError

ROWS = (
    "`{what}` is changed at index {row} along axis {axis}, and nowhere else. At which indices along axis {out} does "
    "the result change?"
)
LINE = (
    "The result at index {other} along axis {out} does not depend on `{what}` at index {row} along axis {axis}. One "
    "line sees to that: without one of its steps, it would. Which line?"
)
CHANGES = "It changes at {key}, and stays as it is everywhere else."
OPENS = "With `{changed}` as line {line}, the result does depend on it."
OF_LINE = "line {line}"
SIZES = ((0.4, 3.0, 20.0), (0.7, 6.0, 60.0), (1.3, 9.0, 200.0))  # of the changes, in the three ways
LEAST, MOST = 2, 12  # rows that are asked about
NOTICED = 1e-5
SMALL = 0.1  # of the inputs, in the draw with small ones
ROWS_OF = 3  # rows of an input that are tried
OTHERS = 2  # other lines that must have been tried
LINES_OF = 4  # rows for which a line is looked for


@dataclass(frozen=True)
class InputRow:
    """One row of one input: the argument's name, the axis, the index."""

    name: str
    axis: int
    index: int


def questions(run: CodeRunner, call: ExampleCall, rng: random.Random) -> Iterator[CodeQuestion]:
    """Which rows of the result change with a row of an input; those where not all do first."""
    found = []
    for row in _rows(call, rng):
        changed = dependent_rows(run, run.code.text, call.case, call, row)
        if changed is None or not LEAST <= len(changed) <= MOST or _differs(run, call, row, changed):
            continue
        found.append((bool(changed.all()), row, changed))
    for _, row, changed in sorted(found, key=lambda one: one[0]):
        parts = {"what": row.name, "row": row.index, "axis": row.axis, "out": _axis_of(run, call)}
        line = _line_of(run.code.text, row.name)
        yield CodeQuestion("rows", "set", line, ROWS, parts, changed.nonzero().flatten().tolist(), call.shown, CHANGES,
                           rows=len(changed), find_again=_key_of_rows_again(call, row))  # fmt: skip


def _differs(run: CodeRunner, call: ExampleCall, row: InputRow, changed: Tensor) -> bool:
    """Whether the second way does not find the same, or smaller inputs, with which no softmax is saturated, do not."""
    other = dependent_rows_by_gradient(run, run.code.text, call, row)
    if other is None:
        other = dependent_rows(run, run.code.text, call.case, call, row, 1)
    small = dependent_rows(run, run.code.text, _small(call.case), call, row)
    return any(one is None or not torch.equal(one, changed) for one in (other, small))


def _small(case: Case) -> Case:
    """The case with a tenth of each fraction."""
    return case.to(lambda leaf: leaf * SMALL)


def _key_of_rows_again(call: ExampleCall, row: InputRow) -> KeyFinder:
    def find(run: CodeRunner) -> Any:
        changed = dependent_rows(run, run.code.text, double(call.case), call, row, 2)
        if changed is None:
            changed = dependent_rows(run, run.code.text, call.case, call, row, 2)
        return None if changed is None else changed.nonzero().flatten().tolist()

    return find


def _line_of(text: str, name: str) -> int:
    """The first line that has the word."""
    lines = text.splitlines()
    return next((n for n, line in enumerate(lines, 1) if name in line), 1)


def _rows(call: ExampleCall, rng: random.Random) -> Iterator[InputRow]:
    """A row of each tensor with at least two of them: of matrices along the last axis but one, else along the last."""
    for name, value in call.arguments.items():
        if not isinstance(value, Tensor) or value.dim() == 0 or value.dtype == torch.bool:
            continue
        axis = value.dim() - (2 if value.dim() > 1 and value.is_floating_point() else 1)
        if value.shape[axis] >= LEAST:
            yield InputRow(name, axis, rng.randrange(value.shape[axis]))


def _every_row(call: ExampleCall, rng: random.Random) -> list[InputRow]:
    """A few rows of each tensor."""
    found = []
    for row in _rows(call, rng):
        indices = range(call.arguments[row.name].shape[row.axis])
        found += [replace(row, index=index) for index in rng.sample(indices, min(ROWS_OF, len(indices)))]
    rng.shuffle(found)
    return found


def dependent_rows(
    run: CodeRunner, text: str, case: Case, call: ExampleCall, row: InputRow, draw: int = 0
) -> Tensor | None:
    """bool [rows]: which rows of the result depend on the row: they change when it does; None if that cannot be told
    for sure, or if the result has several tensors of which not all change in the same rows.
    """
    changed = dependent_rows_of_each_tensor(run, text, case, call, row, draw)
    return changed[0] if changed is not None and bool((changed == changed[0]).all()) else None


def dependent_rows_of_each_tensor(
    run: CodeRunner, text: str, case: Case, call: ExampleCall, row: InputRow, draw: int = 0
) -> Tensor | None:
    """bool [tensors of the result,rows]: which rows change when the row does; None if that cannot be told for sure."""
    if not run.define(text):
        return None
    before = _rows_of(run.ask(case))
    if before is None:
        return None
    every = []
    for size in SIZES[draw]:
        other = _with_row(case, call.names, row, size)
        after = None if other is None else _rows_of(run.ask(other))
        seen = None if after is None else _seen(before, after)
        if seen is None:
            return None
        every.append(seen)
    changed = torch.stack(every)
    if not call.arguments[row.name].is_floating_point() and not bool((changed == changed[0]).all()):
        return None  # with ids it depends on the new one
    return changed.any(dim=0)


def _seen(before: Sequence[Tensor], after: Sequence[Tensor]) -> Tensor | None:
    """bool [tensors,rows]: which rows differ; None for differences that rounding may have made, or hidden."""
    if [one.shape for one in before] != [one.shape for one in after]:
        return None
    found = []
    for old, new in zip(before, after, strict=True):
        same = (old == new) | (old.isnan() & new.isnan())
        seen = ((old - new).abs() > NOTICED * old.abs().clamp(min=1.0)).any(dim=1)
        if bool((~same.all(dim=1) & ~seen).any()):
            return None
        found.append(seen)
    return torch.stack(found)


def _rows_of(value: Any) -> list[Tensor] | None:
    """Each tensor of the result as a matrix [rows,rest] in float64; None if they cannot be compared."""
    tensors = _tensors(value)
    if not tensors:
        return None
    axis = _row_axis(tensors[0])
    return [one.double().movedim(axis, 0).reshape(one.shape[axis], -1) for one in tensors]


def _tensors(value: Any) -> list[Tensor]:
    """The result's tensors, if all hold fractions and have the same number of rows along the same axis; else none.

    A change of an input may or may not reach whole numbers and truths, which says nothing about who depends on whom.
    """
    if isinstance(value, RaisedError):
        return []
    found = [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, Tensor)]
    if not all(one.is_floating_point() and one.dim() and one.numel() for one in found):
        return []
    places = {(_row_axis(one), one.shape[_row_axis(one)]) for one in found}
    return found if len(places) == 1 else []


def _row_axis(tensor: Tensor) -> int:
    """The last axis but one, if there are several rows along it, or else the last."""
    return tensor.dim() - (2 if tensor.dim() > 1 and tensor.shape[-2] > 1 else 1)


def _axis_of(run: CodeRunner, call: ExampleCall) -> int:
    """The axis along which the result has its rows."""
    run.define(run.code.text)
    tensors = _tensors(run.ask(call.case))
    return _row_axis(tensors[0]) if tensors else 0


def _with_row(case: Case, names: Sequence[str], row: InputRow, size: float) -> Case | None:
    """The case with another row, each entry of which moves by another amount: a softmax does not see one amount for
    all. None if there is no other value for it.
    """
    given = dict(zip(names, case.args, strict=False)) | case.kwargs
    value = given[row.name].clone()
    place = (slice(None),) * row.axis + (row.index,)
    generator = torch.Generator().manual_seed(int(10 * size))
    shape = value[place].shape
    if value.is_floating_point():
        signs = 2.0 * torch.randint(2, shape, generator=generator) - 1.0
        value[place] += (size * signs * (torch.rand(shape, generator=generator) + 0.5)).to(value.dtype)
    else:
        most = int(value.max()) + 1
        if most < 2 or int(value.min()) < 0:
            return None
        value[place] = (value[place] + torch.randint(1, most, shape, generator=generator).to(value.dtype)) % most
    if row.name in case.kwargs:
        return replace(case, kwargs={**case.kwargs, row.name: value})
    at = list(names).index(row.name)
    return replace(case, args=(*case.args[:at], value, *case.args[at + 1 :]))


def dependent_rows_by_gradient(run: CodeRunner, text: str, call: ExampleCall, row: InputRow) -> Tensor | None:
    """bool [rows]: as `dependent_rows`, by a gradient for each row of each tensor; None where there are none."""
    value = call.arguments[row.name]
    if not value.is_floating_point() or not run.define(text):
        return None
    tensors = _tensors(run.ask(call.case))
    every = [_reached(run, call, row, tensors, which) for which in range(len(tensors))]
    known = [one for one in every if one is not None]
    if not known or len(known) < len(every):
        return None
    return known[0] if all(torch.equal(one, known[0]) for one in known) else None


def _reached(run: CodeRunner, call: ExampleCall, row: InputRow, tensors: Sequence[Tensor], which: int) -> Tensor | None:
    """bool [rows] of one of the result's tensors: those from which a gradient comes to the row."""
    case, value, axis = call.case, call.arguments[row.name], _row_axis(tensors[which])
    place = next(n for n, leaf in enumerate(float_leaves((case.args, case.kwargs))) if leaf is value)
    changed = torch.zeros(tensors[which].shape[axis], dtype=torch.bool)
    generator = torch.Generator().manual_seed(tensors[which].numel())
    for index in range(len(changed)):
        cotangents = [torch.zeros_like(one) for one in tensors]
        chosen = cotangents[which].select(axis, index)
        chosen.copy_(torch.rand(chosen.shape, generator=generator) + 0.5)
        try:
            gradient = case.gradients(run.client, cotangents)["gradient of input"][place]
        except (StudentError, ValueError, IndexError):
            return None
        largest = float(gradient.select(row.axis, row.index).abs().max()) if gradient.numel() else 0.0
        if 0 < largest <= NOTICED:
            return None
        changed[index] = largest > 0
    return changed


# -- which line sees to it ---------------------------------------------------------------------------------------------


def lines(
    run: CodeRunner, call: ExampleCall, variants: Sequence[ChangedCode], rng: random.Random
) -> Iterator[CodeQuestion]:
    """The one line without whose operation the result would depend on a row of an input.

    variants: *all* those that leave out a step of a line, so that no other line can be the answer too.
    """
    plain = plain_lines(run.code.text)
    by_line: dict[int, list[ChangedCode]] = {}
    for variant in variants:
        by_line.setdefault(variant.line, []).append(variant)
    for row in _every_row(call, rng)[:LINES_OF]:
        before = dependent_rows(run, run.code.text, call.case, call, row)
        if before is None or bool(before.all()) or _differs(run, call, row, before):
            continue
        opened = {line: [newly_dependent_rows(run, one.program, call, row, before) for one in some]
                  for line, some in by_line.items()}  # fmt: skip
        yield from _asked(run, call, row, before, by_line, opened, plain, rng)


def newly_dependent_rows(
    run: CodeRunner, text: str, call: ExampleCall, row: InputRow, before: Tensor, draw: int = 0
) -> set[int] | None:
    """The indices of the result that depend on the row with this text, and did not before; none if it stops with an
    error; None if that cannot be told.
    """
    first = run.result(text, call.case)
    if isinstance(first, RaisedError):
        return set() if first.kind == "exception" else None
    found: set[int] = set()
    for case in (call.case, _small(call.case)):
        after = dependent_rows_of_each_tensor(run, text, case, call, row, draw)
        if after is None or after.shape[1] != len(before):
            return None
        found |= set((after.any(dim=0) & ~before).nonzero().flatten().tolist())
    return found


def _asked(
    run: CodeRunner,
    call: ExampleCall,
    row: InputRow,
    before: Tensor,
    by_line: Mapping[int, Sequence[ChangedCode]],
    opened: Mapping[int, Sequence[set[int] | None]],
    plain: set[int],
    rng: random.Random,
) -> Iterator[CodeQuestion]:  # fmt: skip
    for index in (~before).nonzero().flatten().tolist():
        opening = [line for line, some in opened.items() if any(one and index in one for one in some)]
        others = [line for line, some in opened.items() if line in plain and line not in opening and None not in some]
        if len(opening) != 1 or len(others) < OTHERS:
            continue
        (line,) = opening
        place = next(n for n, one in enumerate(opened[line]) if one and index in one)
        variant = by_line[line][place]
        chosen = sorted([line, *rng.sample(others, min(3, len(others)))])
        steps = [[variant] if n == line else list(by_line[n]) for n in chosen]
        find_again = _key_of_line_again(call, row, index, steps)
        if not _opens(run, call, row, index, variant.text) or _only(run, call, row, index, steps, 1) != [line]:
            continue
        options = tuple(f"{say(OF_LINE, line=n)}: `{line_text(run.code.text, n)}`" for n in chosen)
        parts = {"what": row.name, "row": row.index, "axis": row.axis, "other": index, "out": _axis_of(run, call),
                 "changed": variant.new}  # fmt: skip
        yield CodeQuestion("line", "choice", 1, LINE, parts, chosen.index(line), call.shown, OPENS, options,
                           key_line=line, find_again=find_again)  # fmt: skip
        return


def _only(
    run: CodeRunner, call: ExampleCall, row: InputRow, index: int, steps: Sequence[Sequence[ChangedCode]], draw: int
) -> list[int] | None:
    """The lines of which a step, left out of the student's text, opens the way; None if that cannot be told."""
    before = dependent_rows(run, run.code.text, call.case, call, row, draw)
    if before is None or bool(before[index]):
        return None
    found = []
    for some in steps:
        every = [newly_dependent_rows(run, one.text, call, row, before, draw) for one in some]
        if any(one is None for one in every):
            return None
        if any(one and index in one for one in every):
            found.append(some[0].line)
    return found


def _opens(run: CodeRunner, call: ExampleCall, row: InputRow, index: int, text: str) -> bool:
    """Whether a gradient comes through, if there are gradients."""
    changed = dependent_rows_by_gradient(run, text, call, row)
    return changed is None or bool(changed[index])


def _key_of_line_again(
    call: ExampleCall, row: InputRow, index: int, steps: Sequence[Sequence[ChangedCode]]
) -> KeyFinder:
    """The option whose line alone opens the way, in float64 and with larger changes; else what contradicts the key."""

    def find(run: CodeRunner) -> Any:
        wide = replace(call, case=double(call.case))
        given = wide if dependent_rows(run, run.code.text, wide.case, wide, row, 2) is not None else call
        before = dependent_rows(run, run.code.text, given.case, given, row, 2)
        if before is None:
            return None
        if bool(before[index]):
            return "it depends on it"
        found = _only(run, given, row, index, steps, 2)
        places = [n for n, some in enumerate(steps) if found is not None and some[0].line in found]
        return None if found is None else places[0] if len(places) == 1 else f"options {places}"

    return find
