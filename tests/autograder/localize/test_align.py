"""The values of right answers are put in order once, and each value once."""

import numpy as np

from autograder.localize import align
from autograder.localize.align import KnownValues, RightTraces, Rules
from autograder.localize.recorder import PLAIN, TENSOR
from autograder.localize.trace import Event, Trace, Value

NAN = float("nan")


def trace_of(*arrays):
    values = [Value(TENSOR, 8, False, at, -1, np.array(one, dtype=float)) for at, one in enumerate(arrays)]
    return Trace(None, [Event(0, 0, at) for at in range(len(values))], values)


def test_the_values_of_right_answers_are_put_in_order_once_for_each_rule():
    rights = RightTraces([trace_of([1.0, 2.0, 3.0])])
    assert rights.values() is rights.values(Rules()) is rights.values(Rules(), False)
    several = (rights.values(), rights.values(Rules(dtypes=True)), rights.values(strict=True))
    assert len({id(one) for one in several}) == 3
    assert RightTraces(rights) == rights


def test_a_value_that_is_read_many_times_is_looked_at_once(monkeypatch):
    seen, parts = [], align._parts
    monkeypatch.setattr(align, "_parts", lambda data: seen.append(data) or parts(data))
    known = KnownValues([trace_of([1.0, 2.0], [1.0, 2.0], [[1.0, 2.0]]), trace_of([1.0, 2.0], [NAN, 1e9])])
    assert len(seen) == 3
    held = lambda data, kind=TENSOR: known.has(Value(kind, 8, False, 0, -1, np.array(data)))
    assert held([1.0, 2.0]) and held([[1.0], [2.0]]) and held([NAN, 5e8]) and held([1.0, 2.0], PLAIN)
    assert not held([2.0, 1.0]) and not held([NAN, 1.0]) and not held([-1e9, NAN])
