"""Lines in order in a notebook: a widget where a person can use it, a card elsewhere."""

import sys
from types import SimpleNamespace

import pytest

from autograder import order
from autograder.console.kernel import widget_module
from autograder.exercises import registry
from autograder.ordering import notebook
from autograder.ordering.make import make
from autograder.ordering.notebook import NotebookPuzzle, OrderFailed
from autograder.ordering.prove import write_order
from autograder.ordering.words import task

PUZZLE = make(registry.find("masks.decoder"), "ada")


def test_what_a_student_puts_in_order_is_judged():
    shown = order("masks.decoder", student="ada")
    assert shown.task == task(PUZZLE) and "Lines in order" in repr(shown)
    found = shown.check(write_order(PUZZLE.right))
    assert "tfkit-is-passed" in found._repr_html_() and "passes all checks" in repr(found)


def test_an_exercise_with_a_short_answer_says_so():
    with pytest.raises(OrderFailed, match="^rnn.cell has no lines to put in order"):
        order("rnn.cell")


def test_a_person_gets_the_widget_and_a_program_the_card(monkeypatch):
    shown = NotebookPuzzle(task(PUZZLE), ["order", "masks.decoder"])
    assert set(shown._repr_mimebundle_()) == {"text/plain", "text/html"}
    kernel = SimpleNamespace(_allow_stdin=True)
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=kernel))
    assert notebook.WIDGET_VIEW in shown._repr_mimebundle_()
    monkeypatch.setattr(notebook, "WIDGET", "tfkit_lab.absent")
    assert notebook.WIDGET_VIEW not in shown._repr_mimebundle_()
    kernel._allow_stdin = False
    assert widget_module("tfkit_lab.ordering_widget") is None


def test_there_are_no_processes_in_a_browser_tab(monkeypatch):
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(OrderFailed, match="browser tab"):
        order("masks.decoder")
