"""Test cells as courses have them, unchanged, against right answers: each must earn its point."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.api import Limits, Verdict
from autograder.own_tests import grade as own_tests
from autograder.sandbox import choose

from ..nbgrader.conftest import marked

SETUP = """
import math
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from numpy.testing import assert_allclose, assert_array_equal
torch.manual_seed(0)
data = np.arange(12.0).reshape(3, 4)
def rel_error(a, b):
    return np.max(np.abs(a - b) / np.maximum(1e-8, np.abs(a) + np.abs(b)))
"""
RELEASED = """
def softmax(x): ...
class Stack: ...
class Vocab: ...
class Vector: ...
class MLP(nn.Module): ...
class Pairs: ...
class Node: ...
"""
ANSWER = """
import math, numpy as np, torch
from torch import nn
from collections import Counter

def squares(n):
    if n < 1:
        raise ValueError("n must be at least 1")
    return [i ** 2 for i in range(1, n + 1)]
def sum_of_squares(n): return sum(squares(n))
def is_prime(n): return n > 1 and all(n % k for k in range(2, int(n ** 0.5) + 1))
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def word_counts(text): return dict(Counter(text.lower().split()))
def normalise(text): return " ".join(text.split())
def stats(x): return float(np.mean(x)), float(np.std(x))
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
def standardise(x): return (x - x.mean(0)) / x.std(0)
def one_hot(labels, n): return np.eye(n)[labels]
def relu(x): return torch.clamp(x, min=0)
def loss_fn(logits, target): return nn.functional.cross_entropy(logits, target)
def minibatches(x, n):
    for start in range(0, len(x), n):
        yield x[start:start + n]
def make_counter():
    seen = []
    def count():
        seen.append(1)
        return len(seen)
    return count
def build_mlp(width): return nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, 1))
def compose(f, g): return lambda x: f(g(x))
def transform(f, xs): return [f(x) for x in xs]
def fit_line(x, y):
    return {"slope": float(np.polyfit(x, y, 1)[0]), "points": len(x)}
def pair(): return np.zeros(2), torch.ones(2)
def find(xs, x): return xs.index(x) if x in xs else None
mean_of_data = 5.5
answer = "gradient descent"
weights = [0.1, 0.2, 0.7]

class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def pop(self):
        if not self.items: raise IndexError("pop from an empty stack")
        return self.items.pop()
    def __len__(self): return len(self.items)
    def is_empty(self): return not self.items
    def __repr__(self): return f"Stack({self.items})"
class Vocab:
    def __init__(self, words): self.index = {w: i for i, w in enumerate(words)}
    @classmethod
    def from_text(cls, text): return cls(sorted(set(text.split())))
    def encode(self, text): return [self.index[w] for w in text.split()]
    def count(self, word): return int(word in self.index)
    def __getitem__(self, w): return self.index[w]
class Vector:
    def __init__(self, x, y): self.x, self.y = x, y
    def __add__(self, o): return Vector(self.x + o.x, self.y + o.y)
    def dot(self, o): return self.x * o.x + self.y * o.y
    def __str__(self): return f"({self.x}, {self.y})"
class MLP(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc1, self.fc2, self.layers = nn.Linear(n, 3), nn.Linear(3, 2), nn.ModuleList([nn.Linear(2, 2)])
    def forward(self, x): return self.fc2(torch.relu(self.fc1(x)))
class Pairs(torch.utils.data.Dataset):
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i): return torch.tensor([i]), i % 2
class Node:
    def __init__(self, data, next=None): self.data, self.next = data, next
"""
CELLS = [
    "assert squares(1) == [1]\nassert squares(3) == [1, 4, 9]",
    "try:\n    squares(0)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('did not raise')",
    "def assert_equal(a, b):\n    assert a == b, f'{a} is not {b}'",
    "assert_equal(sum_of_squares(4), 30)\nassert_equal(sum_of_squares(10), 385)",
    "for n, expected in [(2, True), (9, False), (31, True)]:\n    assert is_prime(n) == expected, f'is_prime({n})'",
    "assert is_prime(7) and not is_prime(8)",
    "assert [fib(i) for i in range(8)] == [0, 1, 1, 2, 3, 5, 8, 13]",
    "assert word_counts('a b A') == {'a': 2, 'b': 1}\nassert 'c' not in word_counts('a')",
    "assert normalise('  a   b ') == 'a b', 'spaces'",
    "m, s = stats(data)\nassert np.isclose(m, 5.5) and abs(s - data.std()) < 1e-9",
    "out = softmax(data)\nassert out.shape == data.shape\nassert_allclose(out.sum(axis=1), np.ones(3))",
    "x = np.random.RandomState(0).randn(4, 5)\nexpected = np.exp(x) / np.exp(x).sum(1, keepdims=True)\n"
    "assert rel_error(softmax(x), expected) < 1e-6",
    "assert np.allclose(standardise(data).mean(0), 0) and np.allclose(standardise(data).std(0), 1)",
    "assert_array_equal(one_hot(np.array([0, 2]), 3), [[1, 0, 0], [0, 0, 1]])",
    "assert one_hot(np.array([1]), 2).dtype == np.float64",
    "x = torch.tensor([-1.0, 2.0])\nassert torch.equal(relu(x), torch.tensor([0.0, 2.0]))",
    "x = torch.randn(3, requires_grad=True)\nrelu(x).sum().backward()\nassert torch.equal(x.grad, (x > 0).float())",
    "torch.manual_seed(1)\nlogits, t = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])\n"
    "torch.testing.assert_close(loss_fn(logits, t), F.cross_entropy(logits, t))",

    "assert abs(loss_fn(torch.zeros(1, 2), torch.tensor([0])).item() - math.log(2)) < 1e-6",
    "assert [len(b) for b in minibatches(list(range(5)), 2)] == [2, 2, 1]",
    "batches = list(minibatches(torch.arange(4), 2))\nassert torch.equal(torch.cat(batches), torch.arange(4))",
    "count = make_counter()\nassert count() == 1\nassert count() == 2",
    "model = build_mlp(4)\nassert isinstance(model, nn.Module)\nassert model(torch.zeros(2, 4)).shape == (2, 1)",
    "assert sum(p.numel() for p in build_mlp(4).parameters()) == 49",
    "model = build_mlp(4)\nassert len(model) == 3 and isinstance(model[0], nn.Linear) and model[0].in_features == 4",
    "assert compose(squares, fib)(6) == [1, 4, 9, 16, 25, 36, 49, 64]",
    "assert transform(lambda x: x + 1, [1, 2]) == [2, 3]",
    "found = fit_line([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])\nassert round(found['slope'], 6) == 2 and found['points'] == 3",
    "a, b = pair()\nassert (a == 0).all() and b.sum() == 2",
    "assert find([1, 2], 3) is None\nassert find([1, 2], 2) == 1",
    "assert mean_of_data == 5.5\nassert answer.lower().startswith('gradient')",
    "assert len(weights) == 3 and math.isclose(sum(weights), 1.0)",
    "s = Stack()\ns.push(1)\ns.push(2)\nassert len(s) == 2 and s.pop() == 2 and not s.is_empty()",
    "try:\n    Stack().pop()\n    assert False\nexcept IndexError:\n    pass",
    "assert repr(Stack()) == 'Stack([])' and str(Vector(1, 2)) == '(1, 2)'",
    "v = Vocab(['a', 'b'])\nassert v.encode('b a') == [1, 0] and v['b'] == 1 and v.count('z') == 0",
    "v = Vocab.from_text('the cat the')\nassert v.index == {'cat': 0, 'the': 1} and isinstance(v, Vocab)",
    "assert Vector(1, 2).dot(Vector(3, 4)) == 11",
    "# autograder: objects\nc = Vector(1, 2) + Vector(3, 4)\nassert (c.x, c.y) == (4, 6)",
    "m = MLP(5)\nassert m.fc1.weight.shape == (3, 5)\nassert len(m.layers) == 1 and m is not None and m != None",
    "m = MLP(5)\nx = torch.randn(2, 5)\nhidden = torch.relu(x @ m.fc1.weight.T + m.fc1.bias)\n"
    "expected = hidden @ m.fc2.weight.T + m.fc2.bias\n"
    "assert torch.allclose(m(x), expected, atol=1e-6)",
    "ds = Pairs(3)\nassert len(ds) == 3\nx, y = ds[1]\nassert x.item() == 1 and y == 1",
    "n = Node(1, Node(2))\nassert n.data == 1 and n.next.data == 2 and n.next.next is None",
    "random.seed(0)\nxs = [random.random() for _ in range(20)]\nassert np.isclose(stats(xs)[0], sum(xs) / 20)",
    "score = 0\nif squares(2) == [1, 4]:\n    score += 0.5\nif fib(3) == 2:\n    score += 0.5\nscore",
    "assert callable(softmax) and softmax.__name__ == 'softmax'",
]  # fmt: skip


@pytest.fixture(scope="module")
def found() -> dict[str, Verdict]:
    names = [f"test-{number}" for number in range(len(CELLS))]
    setup = {"nbgrader": marked("setup", locked=True), "tfkit": {"role": "setup"}}
    cells = [
        new_code_cell(SETUP, id="setup", metadata=setup),
        new_code_cell(ANSWER, id="answer", metadata={"nbgrader": marked("answer", solution=True),
                                                     "tfkit": {"role": "exercise", "released": RELEASED}}),
    ]  # fmt: skip
    for name, source in zip(names, CELLS, strict=True):
        marks = marked(name, grade=True, locked=True, points=1)
        cells.append(new_code_cell(source, id=name, metadata={"nbgrader": marks, "tfkit": {"role": "check"}}))
    points = dict.fromkeys(names, 1.0)
    return own_tests.grade(new_notebook(cells=cells), points, {name: name for name in names}, choose(), Limits())


@pytest.mark.parametrize("number", range(len(CELLS)))
def test_an_ordinary_test_cell_is_passed_by_a_right_answer(found, number):
    verdict = found[f"test-{number}"]
    assert (verdict.status, verdict.score) == ("passed", 1.0), (CELLS[number], verdict.reason, verdict.checks)


def graded(answer: str, *tests: str, released: str = RELEASED) -> list[Verdict]:
    """The verdicts on tests of one answer."""
    asked = {"nbgrader": marked("answer", solution=True), "tfkit": {"role": "exercise", "released": released}}
    cells = [new_code_cell(answer, id="answer", metadata=asked)]
    points = {f"test-{number}": 1.0 for number in range(len(tests))}
    for name, source in zip(points, tests, strict=True):
        marks = {"nbgrader": marked(name, grade=True), "tfkit": {"role": "check"}}
        cells.append(new_code_cell(source, id=name, metadata=marks))
    found = own_tests.grade(new_notebook(cells=cells), points, {name: name for name in points}, choose(), Limits())
    return [found[name] for name in points]


def test_operators_of_an_asked_for_class_without_the_marker_line_are_not_graded():
    """The test is about such objects, so that it is no fault of the answer: its author has to say so."""
    (verdict,) = graded(ANSWER, "assert (Vector(1, 2) + Vector(3, 4)).x == 4")
    assert verdict.status == "not_graded" and "# autograder: objects" in verdict.reason


COMPARED = {
    "assert Vector(1, 2) == Vector(1, 2)": "was compared",
    "assert sorted([Vector(2, 1), Vector(1, 2)])[0].x == 1": "was compared",
    "assert Vector(1, 2)": "was used as a truth value",
    "assert Vector": "was used as a truth value",
    "v = Vector(1, 2) or None\nassert v.x == 1": "was used as a truth value",
}


def test_comparisons_of_an_asked_for_class_are_never_made_and_never_the_answers_fault():
    """Not even with the marker line: its `__eq__` would be the verdict. A right answer had 0 points for them."""
    for (test, said), verdict in zip(
        COMPARED.items(), graded(ANSWER, *(f"# autograder: objects\n{test}" for test in COMPARED)), strict=True
    ):
        assert verdict.status == "not_graded" and said in verdict.reason, (test, verdict)


def test_an_object_that_is_returned_in_place_of_data_fails_where_it_is_compared():
    answer = "class Yes:\n    def __eq__(self, other): return True\ndef squares(n): return Yes()"
    found = graded(answer, "assert squares(1) == [1]", "assert squares(1)", released="def squares(n):\n    ...")
    assert [one.status for one in found] == ["failed", "failed"]
