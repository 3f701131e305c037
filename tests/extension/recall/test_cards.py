"""Which cards there are, whatever is installed."""

import pytest

from autograder.exercises import registry
from tfkit_lab.recall import cards, home


@pytest.fixture
def two_exercises(monkeypatch):
    def refuse():
        raise registry.TwoExercises("two exercises are called a.b")

    monkeypatch.setattr(registry, "exercises", refuse)
    cards._folders.cache_clear()
    yield
    cards._folders.cache_clear()


def test_where_exercises_are_installed_twice_there_are_no_cards_and_no_error(two_exercises, tmp_path):
    assert cards.cards_of(["02-masks"]) == []
    units = [{"name": "02-masks", "path": "02-masks/02-masks.ipynb", "recall_cell": "recall"}]
    assert home.for_home_page(tmp_path, units) is None


def test_cards_come_back_when_the_exercises_are_in_order_again(two_exercises, monkeypatch):
    assert cards.cards_of(["02-masks"]) == []
    monkeypatch.undo()
    assert cards.cards_of(["02-masks"])
