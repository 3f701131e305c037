"""The call in a notebook: the widget's messages, the list without a widget, and what a real kernel displays."""

import ast
import sys

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.extension.recall.conftest import ANSWERS, CARDS, EARLIER, WRONG
from tfkit_lab.recall import notebook as module
from tfkit_lab.recall import page
from tfkit_lab.recall.notebook import recall, typed_answer
from tfkit_lab.recall.opening import Opening
from tfkit_lab.recall.widget import RecallForm

CELL = 'from tfkit_lab.recall import recall\n\nrecall("03-heads", after=["01-recurrence-to-attention", "02-masks"])'


@pytest.fixture
def somebody(here, clock, monkeypatch):
    """A notebook with somebody in front of it; what is displayed."""
    shown = []
    monkeypatch.chdir(here)
    monkeypatch.setattr(module, "user_can_answer", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda what, **_: shown.append(what))
    return shown


def test_where_nobody_can_answer_nothing_is_shown(tmp_path, capsys):
    recall("04-d", after=EARLIER)
    assert capsys.readouterr().out == ""
    run = new_notebook(cells=[new_code_cell(CELL)])
    NotebookClient(run, timeout=100, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert run.cells[0].outputs == [] and not (tmp_path / ".tfkit").exists()


def test_a_front_end_gets_the_widget_and_what_others_can_show_and_no_key(tmp_path):
    cell = new_code_cell(CELL)
    client = NotebookClient(new_notebook(cells=[cell]), timeout=100, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}})  # fmt: skip
    with client.setup_kernel():
        client.kc.allow_stdin = True  # as a front end says with each cell
        client.execute_cell(cell, 0)
    (output,) = cell.outputs
    assert "application/vnd.jupyter.widget-view+json" in output.data
    assert output.data["text/plain"].count("recall.answer(") == 3 == output.data["text/html"].count("recall.answer(")


def test_where_the_front_end_was_not_built_the_questions_are_listed(somebody, tmp_path, monkeypatch):
    monkeypatch.setattr("tfkit_lab.page.STATIC", tmp_path)
    monkeypatch.delitem(sys.modules, "tfkit_lab.recall.widget")
    recall("04-d", after=EARLIER)
    assert somebody[-1]["text/plain"].count("recall.answer(") == 3


def test_questions_are_answered_without_a_widget(somebody, monkeypatch):
    monkeypatch.setattr(module.Recall, "_ask", staticmethod(lambda opening: module._display(page.bundle(opening))))
    recall("04-d", after=EARLIER)
    assert somebody[-1]["text/plain"].count("recall.answer(") == 3
    for number, one in enumerate(recall.opening.cards, 1):
        recall.answer(number, [1, 2, 3] if one.question["kind"] == "order" else WRONG[one.id])
    assert "recall.answer(" not in somebody[-1]["text/plain"] and "≠ Not this time" in somebody[-1]["text/html"]
    for number in (4, 0, "1", None):
        with pytest.raises(ValueError, match="^There is no question .*: they are numbered from 1 to 3.$"):
            recall.answer(number, 1)


def test_an_answer_may_be_typed_as_one_would_write_it():
    typed = {"n": 8, "s": (2, 3), "c": 2, "m": ["10", "11"], "o": [2, 1, 3], "f": 2}
    assert all(one.is_right(one.read_answer(typed_answer(one, typed[one.id]))) for one in CARDS)
    assert typed_answer(CARDS[2], "that") == "that" and typed_answer(CARDS[2], [1, 2]) == ["this", "that"]


MISFITS = {"n": ["eight", 10**400, [1, 2]], "s": [3, [-1], [float("inf")]], "c": [0, 3, "those", [1, 2]],
           "m": [["1"], 1, "10"], "o": [[1, 1, 2], [1, 2], 1, "213"], "f": [9, [], "return 1"]}  # fmt: skip


@pytest.mark.parametrize("one", CARDS, ids=lambda one: one.id)
def test_the_example_fits_the_question_and_what_does_not_fit_is_told_in_one_sentence(one, monkeypatch):
    one.read_answer(typed_answer(one, ast.literal_eval(page.example(one))))
    for language, words in (("en", "This question is answered by "), ("fr", "On répond à cette question par ")):
        monkeypatch.setenv("LANGUAGE", language)
        for answer in (None, *MISFITS[one.id]):
            with pytest.raises(ValueError) as refused:
                one.read_answer(typed_answer(one, answer))
            assert str(refused.value).startswith(words) and str(refused.value).endswith(".")


def test_when_nothing_is_due_a_line_says_what_comes_next(somebody, clock, capsys, monkeypatch):
    monkeypatch.setattr(module, "Opening", lambda unit, after, folder: Opening(unit, after, folder, lambda: clock[0]))
    for unit in ("04-d", "05-e"):
        recall(unit, after=EARLIER)
        for place, one in enumerate(recall.opening.cards):
            recall.opening.answer(place, ANSWERS[one.id])
    recall("06-f", after=EARLIER)
    assert capsys.readouterr().out == "No question on an earlier unit is due. The next one comes back on 2026-10-03.\n"
    recall("04-d", after=EARLIER)
    assert somebody[-1]["text/plain"].count("✓ Right.") == 3  # what came of them a moment ago


def test_the_widget_sends_no_key_and_is_replaced_by_what_came_of_the_answers(here, clock):
    form = RecallForm(Opening("04-d", EARLIER, here, lambda: clock[0]))
    updates = []
    form.display_handle = type("Handle", (), {"update": lambda _, what, raw: updates.append(what)})()
    assert all(set(one) == {"question", "title", "code", "before", "after", "lesson"} for one in form.cards)
    form._asked(None, {"do": "answer", "card": 0, "answer": "nonsense"}, [])
    assert form.problem and form.results == [None, None, None]
    form._asked(None, {"do": "answer", "card": 0, "answer": ANSWERS[form.opening.cards[0].id]}, [])
    assert form.problem == "" and form.results[0]["right"]
    form._asked(None, {"do": "easy", "card": 0}, [])
    assert form.results[0]["easy"]
    form._asked(None, {"do": "skip"}, [])
    assert form.ended and "Skipped" in updates[0]["text/plain"] and "recall.answer" not in updates[0]["text/plain"]


def test_all_text_on_a_page_is_escaped(here, clock):
    found = Opening("04-d", EARLIER, here, lambda: clock[0])
    found.cards[0].question["label"] = "<script>"
    found.note = "<b>"
    assert "<script>" not in page.html(found) and "<b>" not in page.html(found)
