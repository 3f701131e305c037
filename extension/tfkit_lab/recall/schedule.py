"""When a card comes back: FSRS (Ye et al. 2022, https://doi.org/10.1145/3534678.3539081), from the package `fsrs`.

A right answer is rated "good", an easy one "easy", a wrong one "again". Steps of minutes are left out, since a student
opens a unit and not a deck of cards: the first right answer brings a card back after days.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from tfkit_lab.recall.cards import Card

try:
    import fsrs
except ImportError:  # a kernel without the package asks all the same, but cannot plan
    fsrs = None  # type: ignore[assignment]

MOST = 3  # cards at the opening of a unit
LONGEST_DAYS = 120  # a course has ended by then
RATINGS = ("wrong", "right", "easy")
State = dict[str, Any]  # a card's memory as `fsrs.Card.to_dict` gives it


def can_plan() -> bool:
    """Whether the package `fsrs` is there."""
    return fsrs is not None


def review(state: State | None, rating: str, now: datetime) -> State | None:
    """The state of a card after an answer, `state` being the one before; None where nothing can be planned.

    rating: one of RATINGS. now: with its time zone, UTC.
    """
    if not can_plan():
        return None
    card = fsrs.Card(card_id=0, due=now) if state is None else fsrs.Card.from_dict(state)  # type: ignore[arg-type]
    rated = {"wrong": fsrs.Rating.Again, "right": fsrs.Rating.Good, "easy": fsrs.Rating.Easy}[rating]
    reviewed, _ = _scheduler().review_card(card, rated, now)
    return dict(reviewed.to_dict())


def due_at(state: State) -> datetime:
    """When a card comes back."""
    return datetime.fromisoformat(state["due"])


def choose(
    cards: Sequence[Card], states: Mapping[str, State], now: datetime, student: str, most: int = MOST
) -> list[Card]:
    """At most so many cards: those that are due, what is most nearly forgotten first, then new ones.

    One place is kept for a new card: otherwise the few that were asked first would come back at every opening, and what
    the units since then teach would never be asked. New ones are of different kinds and units, as far as there are
    some, the latest units first; which they are depends on the student, so that neighbours are asked different things.
    """
    new = [card for card in cards if card.id not in states]
    due = find_due(cards, states, now, most - 1 if new else most)
    return [*due, *_varied(new, student, most - len(due))]


def find_due(cards: Iterable[Card], states: Mapping[str, State], now: datetime, most: int = MOST) -> list[Card]:
    """At most so many of the cards that are due, what is most nearly forgotten first."""
    due = [card for card in cards if card.id in states and due_at(states[card.id]) <= now]
    return sorted(due, key=lambda card: (_retrievability(states[card.id], now), card.id))[:most]


def _varied(cards: Sequence[Card], student: str, most: int) -> list[Card]:
    """So many cards, of the latest units first, and of different kinds where there are some."""
    units = list(dict.fromkeys(card.unit for card in cards))
    left = sorted(cards, key=lambda card: (-units.index(card.unit), _drawn(student, card.id)))
    chosen: list[Card] = []
    while left and len(chosen) < most:
        kinds = {kind_of(card) for card in chosen}
        taken = {card.unit for card in chosen}
        new_kinds = [card for card in left if kind_of(card) not in kinds] or left
        chosen.append(next((card for card in new_kinds if card.unit not in taken), new_kinds[0]))
        left.remove(chosen[-1])
    return chosen


def kind_of(card: Card) -> str:
    """The kind of a card: that of its question, and of a choice whether it is one among lines of code."""
    kind = str(card.question["kind"])
    return ("fault" if card.is_fault else "line") if card.has_lines else kind


def _retrievability(state: State, now: datetime) -> float:
    """The chance that it is remembered; 0 where that cannot be computed."""
    if not can_plan():
        return 0.0
    return float(_scheduler().get_card_retrievability(fsrs.Card.from_dict(state), now))  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def _scheduler() -> Any:
    return fsrs.Scheduler(learning_steps=(), relearning_steps=(), maximum_interval=LONGEST_DAYS, enable_fuzzing=False)


def _drawn(student: str, card: str) -> str:
    return hashlib.sha256(f"recall/{student}/{card}".encode()).hexdigest()
