"""What the home page says of the questions on earlier units."""

from datetime import timedelta

from tests.extension.recall.conftest import ANSWERS, CARDS, EARLIER
from tfkit_lab.recall import home
from tfkit_lab.recall.opening import Opening


def units(here):
    return [{"name": "04-d", "path": f"{here.name}/04-d.ipynb", "recall_cell": "recall"}]


def test_nothing_is_said_before_a_question_was_answered_and_then_what_is_due(here, clock, monkeypatch):
    monkeypatch.setattr(home, "cards_of", lambda _: CARDS)
    root = here.parent
    assert home.for_home_page(root, units(here), clock[0]) is None
    found = Opening("04-d", EARLIER, here, lambda: clock[0])
    for place, card in enumerate(found.cards):
        found.answer(place, ANSWERS[card.id])
    told = home.for_home_page(root, units(here), clock[0])
    assert told == {"due": 0, "next": found.next_due.isoformat()}
    assert home.for_home_page(root, units(here), clock[0] + timedelta(days=9)) == {"due": 3, "next": None}


def test_a_course_that_asks_nothing_has_no_section(here, clock):
    assert home.for_home_page(here.parent, [{"name": "04-d", "path": "04-d/04-d.ipynb", "recall_cell": None}]) is None
