"""Cards without a unit of the course behind them, and a clock that a test sets."""

from datetime import UTC, datetime

import pytest

from tfkit_lab import questions
from tfkit_lab.recall import opening
from tfkit_lab.recall.cards import ORDER, Card

EARLIER = ["01-a", "02-b", "03-c"]


def card(name, unit, question, key, **more):
    return Card(name, unit, question, key, why="Because.", section="1 · How", cell="text-1", lesson=unit, **more)


CARDS = [
    card("n", "01-a", questions.number("How many?"), 8),
    card("s", "01-a", questions.shape("Which shape?"), [2, 3]),
    card("c", "02-b", questions.choice("Which?", "this", "that"), ["that"]),
    card("m", "02-b", questions.mask("Where?", 2, 2), [[True, False], [True, True]]),
    card("o", "03-c", {"kind": ORDER, "label": "Order?", "lines": ["b", "a", "c"]}, [[1, 0, 2], [1, 2, 0]]),
    card(
        "f", "03-c", {**questions.choice("Fault?", "1: def f():", "2:     return 1"), "code": True}, ["2:     return 1"]
    ),
]
ANSWERS = {one.id: one.key[0] if one.question["kind"] == ORDER else one.key for one in CARDS}
PICK = card(
    "p",
    "03-c",
    {**questions.choice("Line?", "return 1", "return 2"), "code": True},
    ["return 2"],
    code="def f():\n    …",
    whys={"return 1": "You return too little."},
)
WRONG = {"n": 9, "s": [3, 2], "c": ["this"], "m": [[True, True], [True, True]], "o": [0, 1, 2], "f": ["1: def f():"]}


@pytest.fixture
def clock(monkeypatch):
    """The time, in a list of one; a unit's cards are those above."""
    monkeypatch.setattr(opening, "cards_of", lambda units: [one for one in CARDS if one.unit in units])
    monkeypatch.setattr(opening, "student_name", lambda: "ada")
    return [datetime(2026, 10, 1, 9, tzinfo=UTC)]


@pytest.fixture
def here(tmp_path):
    """The folder of a notebook of unit 04, beside that of unit 01."""
    for unit in ("01-a", "04-d"):
        (tmp_path / unit).mkdir()
        (tmp_path / unit / f"{unit}.ipynb").write_text("{}")
    return tmp_path / "04-d"
