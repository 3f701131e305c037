"""A search for an explanation ends after a counted number of calls, however long each takes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from autograder.checks.local import LocalSubject
from autograder.checks.probe import Probe, collect_answers
from autograder.checks.properties._spy import spy_on
from autograder.checks.reference import reference_of
from autograder.corpus.judge import ask_reference
from autograder.diagnosis import budget as budget_module
from autograder.diagnosis.budget import GUARD_S, LEAST_UNITS, LOOK_EVERY, ComputeBudget
from autograder.diagnosis.diagnose import known_answers
from autograder.diagnosis.evidence import Evidence, Replies
from autograder.diagnosis.second_mistake import SecondMistakeSearch
from autograder.exercises import registry

CELL = registry.find("rnn.cell")
ONES = "import torch\ndef rnn_cell(x, h, w_x, w_h, b):\n    return torch.ones_like(h)\n"


def wrong_replies(exercise, source):
    findings = collect_answers(ask_reference(exercise, 5), LocalSubject.from_source(source))
    return [reply for finding in findings if finding.check.core for reply in finding.failed]


def test_a_call_costs_its_operations_and_the_same_each_time():
    costs = [ComputeBudget(reference_of(CELL), wrong_replies(CELL, ONES)[:2]).units_of_call for _ in range(2)]
    assert costs[0] == costs[1] > LEAST_UNITS + 3  # two products and their sum


def test_a_call_is_counted_once_for_all_searches(monkeypatch):
    """Each search has a budget of its own for the same questions."""
    replies = wrong_replies(CELL, ONES)[:2]
    counted = ComputeBudget(reference_of(CELL), replies).units_of_call
    monkeypatch.setattr(budget_module, "_count_units", lambda *_: pytest.fail("counted again"))
    assert ComputeBudget(reference_of(CELL), replies[:2]).units_of_call == counted


def test_a_question_that_counts_operations_itself_is_counted_and_leaves_nothing_on():
    """Two counts of one subject would share the names of what begins and ends them."""
    modes = torch._C._len_torch_dispatch_stack(), torch._C._len_torch_function_stack()
    (plain,) = wrong_replies(CELL, ONES)[:1]
    counting = Probe(lambda subject: spy_on(subject, lambda: plain.probe.ask(subject))["calls"], plain.probe.case)
    reply = replace(plain, probe=counting)
    assert ComputeBudget(reference_of(CELL), [reply]).units_of_call > LEAST_UNITS + 3
    assert (torch._C._len_torch_dispatch_stack(), torch._C._len_torch_function_stack()) == modes


def test_every_call_of_a_counted_subject_is_spent():
    replies = wrong_replies(CELL, ONES)[:1]
    budget = ComputeBudget(reference_of(CELL), replies, units=100)
    subject = budget.count_calls(reference_of(CELL))
    replies[0].probe.ask(subject)
    assert budget.left == pytest.approx(100 - budget.units_of_call)
    while budget.may_go_on:
        replies[0].probe.ask(subject)
    assert budget.left <= 0


@pytest.mark.parametrize("ask", [
    lambda budget, reply: reply.probe.ask(budget.count_calls(reference_of(CELL))),
    lambda budget, reply: budget.spend_call_of(object(), reply.probe),
    lambda budget, reply: budget.spend_calls(),
], ids=["counted", "of a program", "spent"])  # fmt: skip
def test_slow_calls_end_the_search_at_the_first_question_after_the_guard(ask, monkeypatch):
    """Were the clock read at every 32nd question, calls of two seconds could go on for a minute."""
    now, (reply,) = [0.0], wrong_replies(CELL, ONES)[:1]
    monkeypatch.setattr("autograder.diagnosis.budget.time.thread_time", lambda: now[0])
    budget, calls = ComputeBudget(reference_of(CELL), [reply]), 0
    while budget.may_go_on:
        ask(budget, reply)
        now[0], calls = now[0] + GUARD_S / 10, calls + 1
    assert calls == 10 and budget.left > 0


def test_the_clock_is_read_seldom_where_nothing_is_called(monkeypatch):
    looks = []
    monkeypatch.setattr("autograder.diagnosis.budget.time.thread_time", lambda: looks.append(None) or 0.0)
    budget = ComputeBudget(reference_of(CELL), [])
    assert all([budget.may_go_on for _ in range(2 * LOOK_EVERY)]) and len(looks) == 1 + 2


def test_nothing_is_tried_when_the_budget_is_spent():
    replies = wrong_replies(CELL, ONES)
    search = SecondMistakeSearch(Evidence(CELL, Replies(replies, [], reference_of(CELL)), None, known_answers(CELL)))
    search.budget.left = 0
    asked = []
    rule = lambda seen: asked.append(seen)
    assert search.find([rule]) is None and not asked


def test_the_collected_mistakes_are_ranked_once():
    replies = wrong_replies(CELL, ONES)
    search = SecondMistakeSearch(Evidence(CELL, Replies(replies, [], reference_of(CELL)), None, known_answers(CELL)))
    assert search.mistakes is search.mistakes
    calls = len(search.evidence.known) * len(search.first)
    assert search.budget.units - search.budget.left == pytest.approx(calls * search.budget.units_of_call)
