"""Fault operators find their places in a page, and those of other packages are used as well."""

import ast

import pytest

from autograder.exercises import plugins
from autograder.hunts import faults
from autograder.hunts.faults import OPERATORS, FaultOperator, PageSource, fault_operators

TEXT = '''
def attention(q, k, v):
    """[B,L,D] → [B,L,D]"""
    mask = torch.ones(4, 4).tril()  # « causal »
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v
'''


def faulty(name: str, text: str = TEXT) -> list[str]:
    return list(fault_operators()[name].faulty(PageSource(text)))


def test_names_are_used_once_and_say_nothing_to_a_student() -> None:
    assert len({one.name for one in OPERATORS}) == len(OPERATORS) >= 40
    assert all(one.description.endswith(".") for one in OPERATORS)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("causal_mask_off_by_one", ".tril()", ".tril(diagonal=1)"),
        ("causal_mask_other_side", ".tril()", ".triu()"),
        ("mask_inverted", "(~mask", "(mask"),
        ("scale_left_out", " / math.sqrt(q.size(-1))", ""),
        ("scale_without_root", "math.sqrt(q.size(-1))", "q.size(-1)"),
        ("softmax_over_queries", "softmax(-1)", "softmax(-2)"),
        ("queries_and_keys_exchanged", "q @ k.transpose", "k @ q.transpose"),
    ],
)
def test_an_operator_changes_one_place_and_nothing_else(name: str, old: str, new: str) -> None:
    """The text has signs of several bytes in front of the places."""
    assert faulty(name) == [TEXT.replace(old, new)]


@pytest.mark.parametrize(
    ("name", "line", "wrong"),
    [
        ("norm_in_other_place", "x + self.ff(self.norm2(x))", "self.norm2(x + self.ff(x))"),
        ("norm_in_other_place", "self.norm2(x + self.ff(x))", "x + self.norm2(self.ff(x))"),
        ("residual_left_out", "x + self.ff(x)", "self.ff(x)"),
        ("kv_heads_in_wrong_order", "k.repeat_interleave(2, dim=1)", "k.repeat(1, 2, 1, 1)"),
        ("rotation_with_wrong_sign", "first * cos - second * sin", "first * cos + second * sin"),
        ("router_without_norm", "weights / weights.sum(-1, keepdim=True)", "weights"),
    ],
)
def test_operators_on_other_lines(name: str, line: str, wrong: str) -> None:
    page = f"def forward(self, x):\n    return {line}\n"
    assert faulty(name, page) == [page.replace(line, wrong)]


def test_an_operator_without_a_place_makes_nothing() -> None:
    assert faulty("kv_heads_in_wrong_order") == faulty("router_without_norm") == []


def test_operators_of_other_packages_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an entry point of the group `autograder.faults` names one; see examples/plugin."""
    mine = FaultOperator("mine", "It is mine.", lambda page: ((node, "7") for node in page.nodes(ast.Constant)))
    monkeypatch.setattr(plugins, "list_entries", lambda group, what: {"mine": "a:b"} if group == faults.GROUP else {})
    monkeypatch.setattr(plugins, "load", lambda target: mine)
    fault_operators.cache_clear()
    try:
        assert fault_operators()["mine"] is mine and len(fault_operators()) == len(OPERATORS) + 1
        monkeypatch.setattr(plugins, "list_entries", lambda group, what: {"mask_inverted": "a:b"})
        fault_operators.cache_clear()
        with pytest.raises(ValueError, match="two fault operators are called 'mask_inverted'"):
            fault_operators()
    finally:
        fault_operators.cache_clear()
