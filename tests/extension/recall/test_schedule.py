"""When cards come back, by a clock that the tests set, and which of them a unit opens with."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from tests.extension.recall.conftest import CARDS
from tfkit_lab.recall import schedule

NOW = datetime(2026, 10, 1, 9, tzinfo=UTC)


def interval(state, since):
    return (schedule.due_at(state) - since) / timedelta(days=1)


def test_right_answers_bring_a_card_back_later_each_time_until_the_longest_interval():
    now, state, days = NOW, None, []
    for _ in range(8):
        state = schedule.review(state, "right", now)
        days.append(interval(state, now))
        now = schedule.due_at(state)
    assert days[0] >= 1 and all(a < b or b == schedule.LONGEST_DAYS for a, b in pairwise(days))
    assert days[-1] == schedule.LONGEST_DAYS


def test_wrong_comes_back_before_right_and_right_before_easy():
    days = [interval(schedule.review(None, rating, NOW), NOW) for rating in schedule.RATINGS]
    assert days[0] == 1 < days[1] < days[2]
    known = schedule.review(None, "right", NOW)
    later = schedule.due_at(known)
    forgotten = schedule.review(known, "wrong", later)
    assert interval(forgotten, later) < interval(schedule.review(known, "right", later), later)


def test_what_is_due_comes_first_and_nothing_comes_before_its_time():
    right, easy = (schedule.review(None, rating, NOW) for rating in ("right", "easy"))
    states = {"n": easy, "s": right, "c": right}
    soon = schedule.choose(CARDS, states, NOW + timedelta(hours=1), "ada")
    assert {one.id for one in soon} <= {"m", "o", "f"} and len(soon) == 3
    later = schedule.choose(CARDS, states, NOW + timedelta(days=30), "ada")
    assert [one.id for one in later[:2]] == ["c", "s"]  # the easy one is better remembered
    assert schedule.find_due(CARDS, states, NOW + timedelta(hours=1)) == []


def test_one_place_is_kept_for_a_new_card_of_the_latest_unit_however_many_are_due():
    states = {name: schedule.review(None, "wrong", NOW) for name in ("n", "s", "c", "m")}
    later = NOW + timedelta(days=30)
    assert [one.id in states for one in schedule.choose(CARDS, states, later, "ada")] == [True, True, False]
    assert schedule.choose(CARDS, states, later, "ada")[-1].unit == "03-c"
    everything = {one.id: states["n"] for one in CARDS}
    assert len(schedule.choose(CARDS, everything, later, "ada")) == 3


def test_new_cards_are_of_different_units_and_kinds_the_latest_first_and_not_the_same_for_everybody():
    chosen = schedule.choose(CARDS, {}, NOW, "ada")
    assert [one.unit for one in chosen] == ["03-c", "02-b", "01-a"]
    assert len({schedule.kind_of(one) for one in chosen}) == 3
    drawn = {tuple(one.id for one in schedule.choose(CARDS, {}, NOW, f"student {n}")) for n in range(20)}
    assert len(drawn) > 3


def test_without_the_package_cards_are_chosen_all_the_same(monkeypatch):
    state = schedule.review(None, "right", NOW)
    monkeypatch.setattr(schedule, "fsrs", None)
    assert schedule.review(None, "right", NOW) is None
    assert [one.id for one in schedule.choose(CARDS, {"n": state}, NOW + timedelta(days=9), "ada")][0] == "n"
