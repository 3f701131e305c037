"""A trace is the box's word: whatever it says, it is checked, it costs little, and no mark hangs on it."""

import time

import pytest
import torch

from autograder.exercises import registry
from autograder.grade import run
from autograder.localize.align import KnownValues, departure, first_difference, roots
from autograder.localize.instrument import instrument
from autograder.localize.recorder import EVENTS, NUMBERS
from autograder.localize.trace import BadTrace, read
from autograder.sandbox import choose

TABLE = instrument(
    [("cell", "def f(x):\n    if x > 1:\n        y = x + 1\n        return [y for z in x]\n    return x")]
)
WHOLE = torch.zeros(1, 3, dtype=torch.int64)
ROW = torch.tensor([7, 1, 8, 0, 0, -1, 0, 0], dtype=torch.int64)
NONE = torch.zeros(0, dtype=torch.float64)


def row(*numbers):
    return torch.tensor([len(numbers), *numbers], dtype=torch.int64)


FORGED = {
    "nothing": None,
    "a text": "a trace",
    "three parts": [WHOLE, ROW, NONE],
    "numbers for tensors": [1, 2, 3, []],
    "floats for whole numbers": [WHOLE.double(), ROW, NONE, []],
    "another form": [WHOLE.reshape(3, 1), ROW, NONE, []],
    "an unknown node": [torch.tensor([[len(TABLE.nodes), 0, 0]]), row(1, 8, 0, 0, -1, -1, 0), NONE, []],
    "a negative node": [torch.tensor([[-1, 0, 0]]), row(1, 8, 0, 0, -1, -1, 0), NONE, []],
    "an unknown version": [torch.tensor([[0, 0, 1]]), row(1, 8, 0, 0, -1, -1, 0), NONE, []],
    "an unknown event": [WHOLE, row(1, 8, 0, 5, -1, -1, 0), NONE, []],
    "a version before itself": [WHOLE, row(1, 8, 0, 0, 0, -1, 0), NONE, []],
    "an unknown type": [WHOLE, row(1, 99, 0, 0, -1, -1, 0), NONE, []],
    "an unknown kind": [WHOLE, row(9, 8, 0, 0, -1, -1, 0), NONE, []],
    "more axes than sizes": [WHOLE, row(1, 8, 0, 0, -1, 0, 3, 2), NONE, []],
    "negative sizes": [WHOLE, row(1, 8, 0, 0, -1, 0, 2, -1, -1), NONE, []],
    "enormous sizes": [WHOLE, row(1, 8, 0, 0, -1, 0, 2, 1 << 40, 1 << 40), NONE, []],
    "numbers beyond the end": [WHOLE, row(1, 8, 0, 0, -1, 0, 1, 5), NONE, []],
    "a start beyond the end": [WHOLE, row(1, 8, 0, 0, -1, 1 << 60, 0), NONE, []],
    "a length that lies": [WHOLE, torch.tensor([1 << 60, 1], dtype=torch.int64), NONE, []],
    "no length": [WHOLE, torch.tensor([0, 0, 0], dtype=torch.int64), NONE, []],
    "too many events": [torch.zeros(EVENTS + 1, 3, dtype=torch.int64), ROW, NONE, []],
    "too many numbers": [WHOLE, row(1, 8, 0, 0, -1, -1, 0), torch.zeros(NUMBERS + 1, dtype=torch.float64), []],
}


@pytest.mark.parametrize("told", FORGED.values(), ids=FORGED)
def test_what_cannot_have_been_recorded_is_no_trace(told):
    with pytest.raises(BadTrace):
        read(TABLE, told)


@pytest.mark.parametrize("error", [-1, 0, 10**30, "3", None, [1], True])
def test_an_error_in_no_line_is_none(error):
    said = [torch.zeros(0, 3, dtype=torch.int64), torch.zeros(0, dtype=torch.int64), NONE, [error]]
    trace = read(TABLE, said)
    assert trace.error is None or trace.table.nodes[trace.error].line in range(1, 6)


def test_random_traces_are_read_or_refused():
    generator = torch.Generator().manual_seed(3)
    draw = lambda low, high, *shape: torch.randint(low, high, shape, generator=generator)
    read_well = 0
    for _ in range(400):
        count = int(draw(1, 9, 1))
        events = torch.stack([draw(0, len(TABLE.nodes), count), draw(0, 3, count), draw(0, count, count)], 1)
        bounds = [(0, 4), (0, 11), (0, 2), (0, count), (-1, 2), (-1, 9), (1, 2), (0, 6)]
        rows = [row(*(int(draw(low, high, 1)) for low, high in bounds)) for _ in range(count)]
        try:
            trace = read(TABLE, [events, torch.cat(rows), torch.rand(12, dtype=torch.float64), []])
        except BadTrace:
            continue
        read_well += 1
        root = roots(trace)
        departure(trace, KnownValues([trace]), root)
        first_difference(trace, [trace], root)
    assert read_well > 20


def test_the_largest_trace_costs_little():
    count = EVENTS
    events = torch.stack(
        [torch.arange(count) % len(TABLE.nodes), torch.zeros(count, dtype=torch.int64), torch.arange(count)], 1
    )
    rows = torch.tensor([[11, 1, 9, 0, at, -1, at % 1000, 4, 8, 8, 8, 8] for at in range(count)], dtype=torch.int64)
    said = [events, rows.reshape(-1), torch.randn(NUMBERS, dtype=torch.float64) * 1e300, []]
    started = time.process_time()
    trace = read(TABLE, said)
    root = roots(trace)
    departure(trace, KnownValues([]), root)
    first_difference(trace, [], root)
    assert time.process_time() - started < 20


FORGERS = {
    "the recorder is replaced": "import builtins\ndef _trace_end(): return [1, 2, 3]\n",
    "the recorder is found and filled": """
import gc, torch
def flood():
    for one in gc.get_objects():
        if type(one).__name__ == "_Recorder":
            one.events = [[10**6, 0, 0]] * 10**6
            one.versions = [[1] * 7]
""",
    "the recorder is found and broken": """
import gc
def flood():
    for one in gc.get_objects():
        if type(one).__name__ == "_Recorder":
            one.numbers = "none"
""",
}


@pytest.mark.parametrize("forger", FORGERS.values(), ids=FORGERS)
def test_a_forged_trace_changes_no_mark(forger):
    exercise = registry.find("masks.causal")
    honest = "import torch\n\ndef causal_mask(length):\n    return torch.ones(length, length).triu().bool()\n"
    source = forger + honest.replace("    return", "    globals().get('flood', int)()\n    return")
    verdicts = [run.grade_source(exercise, one, backend=choose(), device="cpu", seed=3) for one in (honest, source)]
    assert verdicts[0].line == 4
    assert [one.status for one in verdicts] == ["failed", "failed"] and verdicts[0].score == verdicts[1].score
    assert verdicts[1].line is None or 1 <= verdicts[1].line <= len(source.splitlines())
