"""Single changes of a student's own code."""

import ast

import pytest

from autograder.credit import changes
from autograder.credit.changes import single_changes

RIGHT = """
def merge(o1, l1, o2, l2):
    total = torch.logaddexp(l1, l2)
    w1 = torch.exp(l1 - total)
    w2 = torch.exp(l2 - total)
    return w1[..., None] * o1 + w2[..., None] * o2
"""
MINE = """
def merge(first, a, second, b):
    both = torch.logaddexp(a, b)
    u = torch.exp(a - both)
    v = torch.exp(b - both)
    return u[..., None] * first + v[..., None] * second
"""


def changed(source, right=RIGHT, symbols=("merge",)):
    return {one.source for one in single_changes(source, symbols, [ast.parse(right)])}


def same(source):
    return ast.unparse(ast.parse(source))


@pytest.mark.parametrize(
    ("slip", "instead"),
    [
        ("u[..., None] * first", "u * first"),  # a piece is missing at one place
        ("u[..., None] * first + v[..., None] * second", "u * first + v * second"),  # the same slip at two
        ("torch.exp(a - both)", "torch.exp(a)"),
        ("torch.logaddexp(a, b)", "torch.maximum(a, b)"),
        ("v[..., None] * second", "v[..., None] * second * 2"),
        ("a - both", "b - both"),  # another variable
        ("v = torch.exp(b - both)", "v = torch.exp(both - b)"),
    ],
)
def test_a_slip_is_undone_with_the_students_names(slip, instead):
    assert slip in MINE
    assert same(MINE) in changed(MINE.replace(slip, instead))


def test_a_missing_line_is_taken_from_a_right_answer():
    right = RIGHT.replace("    return", "    w1 = w1.clamp(max=1)\n    return")
    assert same(MINE.replace("    return", "    u = u.clamp(max=1)\n    return")) in changed(MINE, right)


def test_a_slip_in_a_method_is_undone():
    right = "class Norm:\n    def forward(self, x):\n        return x / x.pow(2).mean(-1, keepdim=True).sqrt()\n"
    wrong = right.replace("mean(-1, keepdim=True)", "mean(-1)")
    assert same(right) in changed(wrong, right, ("Norm",))


def test_other_code_is_not_one_change_away():
    """Neither a body that is missing nor one that says something else altogether."""
    for other in (
        "def merge(o1, l1, o2, l2):\n    return o1\n",
        "def merge(o1, l1, o2, l2):\n    return (o1 + o2) / 2\n",
    ):
        assert same(RIGHT) not in changed(other)
    for source in changed(MINE.replace("u[..., None]", "u")):
        before, after = changes.tokens(ast.parse(MINE)), changes.tokens(ast.parse(source))
        assert ((before - after) + (after - before)).total() <= 2 * changes.MAX_TOKENS


NON_ANSWERS = {  # not an answer: the right one, of which a piece would make it right
    "return torch.rand(n, n) > 0.5": "return torch.arange(n)[None, :] <= torch.arange(n)[:, None]",
    "return (x + n)[None, None, None, :]": "return (x != n)[:, None, None, :]",
    "return x[:, None, None, :]": "return (x != n)[:, None, None, :]",
    "return torch.ones(n, n)": "return torch.ones(n, n).tril()",
    "out = torch.eye(n)\n    return out": "out = torch.ones(n, n).tril()\n    return out",
    "out = x\n    return out, n": "out = x.softmax(-1) @ n\n    return out, n",
    "a = x\n    b = n\n    return a[None, :] * b[:, None] > 0": "return x[None, :] <= n[:, None]",
    "y = x + n\n    z = y * y\n    w = z - x\n    return x * n": "return x / n.norm()",
    "return x": "y = x - x.mean()\n    return y / y.std()",
}


@pytest.mark.parametrize("body", NON_ANSWERS)
def test_what_is_no_answer_is_not_made_one_by_a_piece_of_a_right_one(body):
    function = "def merge(x, n):\n    {}\n".format
    right = function(NON_ANSWERS[body])
    pieces = [
        one.source
        for one in single_changes(function(body), ("merge",), [ast.parse(right)])
        if one.name == "piece of a right answer"
    ]
    returned = {ast.unparse(node) for node in ast.walk(ast.parse(right)) if isinstance(node, ast.Return)}
    assert not [one for one in pieces if same(right) == one or any(each in one for each in returned - {"return out"})]


def test_lines_in_vain_do_not_make_room_for_a_larger_change():
    padded = "def merge(o1, l1, o2, l2):\n    {}return o1 + o2\n"
    lines = "a = o1 * l1 + o2 * l2\n    b = a.sum(-1).log().exp()\n    "
    definitions = [ast.parse(padded.format(text)).body[0] for text in ("", lines, "o1.sum()\n    ")]
    assert len({changes._body_tokens(one).total() for one in definitions}) == 1


def test_a_line_that_stands_there_a_hundred_times_is_compared_once():
    def pairs(count):
        line = "    both = torch.logaddexp(l1, l2).clamp(min=0.0)\n" * count
        mine = ast.parse(f"def merge(o1, l1, o2, l2):\n{line}    return both\n").body[0]
        pair = changes.FunctionPair(mine, ast.parse(RIGHT).body[0])
        return len(pair.places) * len(pair.pieces)

    assert 0 < pairs(116) == pairs(5)


def test_only_so_many_pairs_are_compared(monkeypatch):
    asked, cost = [], changes.FunctionPair.cost
    monkeypatch.setattr(changes, "MAX_PAIRS", 50)
    monkeypatch.setattr(changes.FunctionPair, "cost", lambda *pair: asked.append(pair) or cost(*pair))
    assert changed(MINE) and len(asked) == 50


def test_nothing_is_changed_in_code_that_cannot_be_read_or_is_long(monkeypatch):
    assert not changed("def merge(:") and not changed("x = " + "-" * 3000 + "1")
    monkeypatch.setattr(changes, "MAX_NODES", 10)
    assert not changed(MINE)


def test_the_same_changes_come_in_the_same_order():
    found = [[one.source for one in single_changes(MINE, ("merge",), [ast.parse(RIGHT)])] for _ in range(2)]
    assert found[0] == found[1] and len(set(found[0])) == len(found[0])


def test_a_change_knows_the_only_line_that_it_changes():
    text = ast.unparse(ast.parse(MINE))
    found = list(single_changes(text, ("merge",), [ast.parse(RIGHT)]))
    for one in found:
        pairs = list(zip(text.splitlines(), one.source.splitlines(), strict=False))
        differ = [at for at, (mine, other) in enumerate(pairs, 1) if mine != other]
        assert one.line is None or differ == [one.line], one.source
    assert {None} < {one.line for one in found}
