"""A general sentence is said only if answers to fresh questions do not refute it."""

from __future__ import annotations

import torch

from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers
from autograder.checks.reference import reference_of
from autograder.corpus.judge import ask_reference
from autograder.diagnosis.evidence import FEWEST, FEWEST_WRONG, Evidence, Replies
from autograder.exercises import registry

CAUSAL = registry.find("masks.causal")


def evidence(answer):
    """What is known of an answer to `causal_mask`: its first questions, and a way to ask it again."""
    subject, reference = LocalSubject({"causal_mask": answer}), reference_of(CAUSAL)
    replies = [one for found in collect_answers(ask_reference(CAUSAL, 5), subject) if found.check.core
               for one in found.answers]  # fmt: skip
    wrong = [reply for reply in replies if reply.difference]
    return Evidence(CAUSAL, Replies(wrong, [reply for reply in replies if not reply.difference], reference), subject)


def upside_down(n):
    return torch.ones(n, n).bool().triu()


def test_a_sentence_is_derived_again_from_more_answers():
    known = evidence(upside_down)
    at_hand = len(known.at_hand.wrong)
    told = known.spoken(lambda seen: f"{len(seen.wrong)} are wrong")
    assert int(told.split()[0]) >= at_hand + FEWEST_WRONG
    assert known.spoken(lambda seen: "all" if len(seen.wrong) == at_hand else None) is None  # refuted
    assert known.spoken(lambda seen: "some" if len(seen.wrong) > at_hand else None) is None  # no sentence to begin with


def test_nothing_is_said_where_no_fresh_answer_is_wrong():
    wrong_once = iter([True])
    known = evidence(lambda n: upside_down(n) if n > 1 and next(wrong_once, False) else torch.ones(n, n).bool().tril())
    assert len(known.at_hand.wrong) == 1 and known.all() is None
    assert known.spoken(lambda seen: "anything") is None


def test_the_fresh_questions_are_asked_once_and_only_for_a_sentence():
    calls = []
    known = evidence(lambda n: (calls.append(n), upside_down(n))[1])
    calls.clear()
    assert known.spoken(lambda seen: None) is None and not calls
    assert known.spoken(lambda seen: "something") == "something" and len(calls) >= FEWEST
    asked = len(calls)
    assert known.spoken(lambda seen: "something else") == "something else" and len(calls) == asked
