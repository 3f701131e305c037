"""What a function computes, and what makes its results."""

import ast

import pytest

from autograder.credit.live import live_statements, makers_of_results, result_names


def function(body):
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return ast.parse(f"def f(self, x, n):\n{lines}\n").body[0]


@pytest.mark.parametrize(
    ("body", "live"),
    [
        ('"""What it does."""\ny = x + 1\nz = y * 2\nreturn x', ["return x"]),
        ("y = x + 1\nz = y * 2\nreturn z", ["y = x + 1", "z = y * 2", "return z"]),
        ("y = []\ny.append(x)\nn.add_(1)\nw = [n]\nw.append(y)\nreturn y", ["y = []", "y.append(x)", "return y"]),
        (
            "queue = deque()\nqueue.appendleft(x)\nqueue.rotated(n)\nreturn queue",
            ["queue = deque()", "queue.appendleft(x)", "return queue"],
        ),
        ("self.seen = x\nx.sum()\nprint(x, n)\nreturn n", ["self.seen = x", "return n"]),
        ("for i in range(n):\n    x[i] = i\nreturn x", ["For i range(n)", "x[i] = i", "return x"]),
        ("for i in range(n):\n    y = i\nreturn x", ["return x"]),
        ("def g():\n    return x * x * x\nreturn x", ["return x"]),
        ("nn.init.zeros_(self.w)\nnn.init.zeros_(n)", ["nn.init.zeros_(self.w)"]),
        ("yield x", ["yield x"]),
    ],
)
def test_only_what_reaches_the_result_is_live(body, live):
    assert [one.text for one in live_statements(function(body))] == live


def test_results_are_what_is_returned_as_it_is():
    one = function("y = x\nz = y\nw = n.exp()\nif n:\n    return w + 1\nreturn (z, n)")
    assert result_names(one) == {"x", "y", "z", "n"}
    held = {ast.unparse(node) for node in makers_of_results(one, result_names(one))}
    assert held == {"y = x", "z = y", "return w + 1", "return (z, n)", "(z, n)"}
