"""The opening of a unit: its questions, what becomes of answers, and what is shown when the cell runs again."""

import json
from datetime import timedelta

import pytest

from tests.extension.recall.conftest import ANSWERS, CARDS, EARLIER, PICK, WRONG
from tfkit_lab.recall import opening as module
from tfkit_lab.recall import page, record, schedule
from tfkit_lab.recall.opening import Opening


def opened(here, clock, unit="04-d"):
    return Opening(unit, EARLIER, here, lambda: clock[0])


def answer_all(found, answers):
    return [found.answer(place, answers[card.id]) for place, card in enumerate(found.cards)]


def test_answers_are_told_right_or_wrong_with_a_sentence_and_the_section_to_read(here, clock):
    found = opened(here, clock)
    assert [card.unit for card in found.cards] == ["03-c", "02-b", "01-a"]
    results = answer_all(found, WRONG)
    assert all(not one["right"] and one["told"].startswith("Not this time. ") for one in results)
    assert results[2]["why"] == "Because." and results[2]["place"] == "01-a, “1 · How”"
    assert results[2]["href"] == "../01-a/01-a.ipynb#1-%C2%B7-How" and results[0]["href"] == ""  # 03-c is not here
    assert all(result["right"] for result in answer_all(opened(here, clock, "05-e"), ANSWERS))


def test_a_wrong_line_is_shown_above_what_whoever_writes_it_is_told_also_when_the_cell_runs_again(
    here, clock, monkeypatch
):
    monkeypatch.setattr(module, "cards_of", lambda _: [PICK])
    first = opened(here, clock).answer(0, ["return 1"])
    assert first["line"] == "return 1" and first["why"] == "Whoever writes this line is told: “You return too little.”"
    assert first["options"] == [("return 1", "≠ your answer"), ("return 2", "✓ the right one")]
    again = opened(here, clock)
    assert again.results[0] == first
    shown = page.text(again)
    assert "     return 1\n   Whoever writes this line" in shown and "def f():" in shown
    assert "<li><code>return 1</code> <strong>≠ your answer</strong></li>" in page.html(again)
    clock[0] += timedelta(days=2)
    assert opened(here, clock).answer(0, ["return 2"])["line"] == ""


def test_the_line_at_fault_is_the_one_that_the_sentence_is_about(here, clock, monkeypatch):
    monkeypatch.setattr(module, "cards_of", lambda _: CARDS[-1:])
    for answers in (WRONG, ANSWERS):
        assert opened(here, clock).answer(0, answers["f"])["line"] == "2:     return 1"
        clock[0] += timedelta(days=2)


def test_an_answer_in_another_language_is_still_right_or_wrong(here, clock, monkeypatch):
    monkeypatch.setattr(module, "cards_of", lambda _: CARDS[2:3])
    opened(here, clock).answer(0, ["this"])
    path = here.parent / record.FILE
    path.write_text(path.read_text().replace('"this"', '"ceci"'))
    (again,) = opened(here, clock).results.values()
    assert not again["right"] and again["options"] == [("this", ""), ("that", "✓ the right one")]


def test_of_lines_and_masks_the_right_answer_is_shown_as_rows():
    rows = {card.id: module.key_rows(card, None, right=False) for card in CARDS}
    assert module.key_rows(CARDS[4], [1, 2, 0], right=True) == "a\nc\nb"
    assert rows["o"] == "a\nb\nc" and rows["m"] == "✓ ·\n✓ ✓" and rows["n"] == "" and module.key_text(CARDS[0]) == "8"


def test_a_wrong_answer_comes_back_the_next_day_and_a_right_one_later(here, clock):
    found = opened(here, clock)
    first, *others = found.cards
    found.answer(0, WRONG[first.id])
    for place, card in enumerate(others, 1):
        found.answer(place, ANSWERS[card.id])
    clock[0] += timedelta(days=1)
    assert opened(here, clock, "05-e").cards[0].id == first.id
    assert not {card.id for card in others} & {card.id for card in opened(here, clock, "05-e").cards}


def test_the_cell_that_runs_again_shows_the_same_cards_and_a_day_later_others(here, clock):
    first = opened(here, clock)
    first.answer(1, ANSWERS[first.cards[1].id])
    clock[0] += timedelta(minutes=5)
    again = opened(here, clock)
    assert [card.id for card in again.cards] == [card.id for card in first.cards]
    assert again.results[1]["right"] and list(again.results) == [1]
    with pytest.raises(ValueError, match="answered already"):
        again.answer(1, ANSWERS[first.cards[1].id])
    clock[0] += timedelta(days=1)
    assert opened(here, clock).results == {}


def test_easy_takes_the_place_of_right_and_nothing_else_can_be_easy(here, clock):
    found = opened(here, clock)
    with pytest.raises(ValueError, match="can be easy"):
        found.rate_easy(0)
    found.answer(0, ANSWERS[found.cards[0].id])
    assert found.rate_easy(0)["easy"]
    state = record.read(here.parent).states[found.cards[0].id]
    assert state == schedule.review(None, "easy", clock[0])
    found.answer(1, WRONG[found.cards[1].id])
    with pytest.raises(ValueError, match="can be easy"):
        found.rate_easy(1)


def test_an_answer_that_does_not_fit_is_refused_and_leaves_the_question_open(here, clock):
    found = opened(here, clock)
    for place in range(3):
        with pytest.raises(ValueError):
            found.answer(place, "no answer")
    assert found.results == {} and not (here.parent / record.FILE).exists()


def test_the_record_lies_beside_the_units_and_holds_no_key(here, clock):
    answer_all(opened(here, clock), ANSWERS)
    whole = json.loads((here.parent / record.FILE).read_text())
    assert whole["format"] == 1 and len(whole["cards"]) == 3
    assert all(set(given) == set(whole["cards"]) for given in (whole["openings"]["04-d"]["given"],))


def test_a_damaged_record_is_one_line_in_front_of_the_questions(here, clock):
    path = here.parent / record.FILE
    path.parent.mkdir()
    path.write_text("{")
    found = opened(here, clock)
    assert len(found.cards) == 3 and "begins anew" in page.text(found).splitlines()[1]
    answer_all(found, ANSWERS)
    assert "begins anew" not in opened(here, clock).note


def test_without_the_package_the_cards_say_so_and_ask(here, clock, monkeypatch):
    monkeypatch.setattr(schedule, "fsrs", None)
    found = opened(here, clock)
    assert "fsrs is missing" in found.note and answer_all(found, ANSWERS)[0]["right"]


def test_where_the_record_cannot_be_stored_the_reason_is_told(here, clock, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.record, "write", refuse)
    found = opened(here, clock)
    assert found.answer(0, ANSWERS[found.cards[0].id])["right"] and "No space left" in found.note


def test_cards_and_results_speak_french(here, clock, monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    found = opened(here, clock)
    assert found.answer(0, WRONG[found.cards[0].id])["told"].startswith("Pas cette fois. ")
    assert "À relire\u00a0: 03-c, «\u00a01 · How\u00a0»" in page.text(found)
