"""A decision is told as a change that makes the answer right, and only where fresh questions do not refute it."""

from __future__ import annotations

import pytest

from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers
from autograder.corpus.judge import ask_reference
from autograder.exercises import registry
from autograder.localize import decision
from autograder.localize.fault import localize_fault

ATTENTION, CAUSAL = "attention.scaled_dot_product", "masks.causal"
SCORES, WEIGHTS = "q @ k.mT / math.sqrt(q.shape[-1])", "scores.softmax(-1).nan_to_num()"
RIGHT = f"""
import math, torch
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = {SCORES}
    scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    weights = {WEIGHTS}
    return weights @ v, weights
"""


def departure(exercise_id, source):
    exercise = registry.find(exercise_id)
    namespace: dict = {"__name__": "answer"}
    exec(source, namespace)
    subject = LocalSubject(namespace)
    core = [(check, pairs) for check, pairs in ask_reference(exercise, 3) if check.core]
    return localize_fault(exercise, collect_answers(core, subject), subject, [("own", source)], own={"own"})


@pytest.mark.parametrize("right, wrong, said", [
    (SCORES, "k @ q.mT / math.sqrt(q.shape[-1])",
     "`k @ q.mT` has a row for each row of `k` and a column for each row of `q`; with rows and columns exchanged your"
     " values are right"),
    (WEIGHTS, "scores.softmax(-2).nan_to_num()",
     "the result of `softmax` here is taken along axis -2, which has a place for each row of `q`; along axis -1, which"
     " has one for each row of `k`, your values are right"),
    (SCORES, "q @ k.mT",
     "`scores` is too large by the square root of the number of columns of `q`; divided by that your values are right"),
    (SCORES, "q @ v.mT / math.sqrt(q.shape[-1])", "with `k` in place of `v` in this line your values are right"),
    ("weights @ v, weights", "weights @ k, weights", "with `v` in place of `k` in this line your values are right"),
])  # fmt: skip
def test_what_was_decided_otherwise_is_told_in_words_of_shapes_and_arguments(right, wrong, said):
    source = RIGHT.replace(right, wrong)
    found = departure(ATTENTION, source)
    assert (found["sentence"], found["text"] in source and wrong in found["text"]) == (said, True)


@pytest.mark.parametrize("line, said", [
    ("mask = torch.ones(n, n).tril(-1).bool()",
     "the result of `tril` here marks in row i the columns up to i - 1; with those up to i your values are right"),
    ("mask = torch.ones(n, n, dtype=torch.bool).triu()",
     "`mask` marks in row i the columns from i on; with those up to i your values are right"),
    ("mask = torch.arange(n)[:, None] > torch.arange(n)",
     "`mask` is False where both sides are equal; with True there your values are right"),
])  # fmt: skip
def test_the_side_of_a_mask_is_told_by_its_columns(line, said):
    found = departure(CAUSAL, f"import torch\ndef causal_mask(n):\n    {line}\n    return mask\n")
    assert (found["line"], found["sentence"]) == (3, said)


def test_steps_in_the_wrong_order_and_a_similar_function_are_told():
    noam = "def noam_rate(step, d_model, warmup):\n    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)\n"
    assert departure("training.noam", noam)["sentence"] == (
        "with `min` in place of `max` in this line your values are right"
    )
    reward = """
import torch
import torch.nn.functional as F
def reward_loss(chosen, rejected):
    return -F.logsigmoid(chosen - rejected).exp().mean().log()
"""
    assert departure("tuning.reward_loss", reward)["sentence"] == (
        "the result of `log` here is what `log` makes of the result of `mean`; in the other order your values are right"
    )


def test_what_one_fresh_question_refutes_is_not_said(monkeypatch):
    """With `min` refuted, `falling` in the place of `rising` is right after the warm-up alone."""
    noam = """
def noam_rate(step, d_model, warmup):
    falling, rising = step**-0.5, step * warmup**-1.5
    return d_model**-0.5 * max(falling, rising)
"""
    monkeypatch.setattr(decision, "changes_of_value", lambda *_: iter(()))
    assert "in place of" not in departure("training.noam", noam)["sentence"]
    monkeypatch.setattr(decision, "FEWEST_WRONG", 0)
    monkeypatch.setattr(decision, "FEWEST", 0)
    monkeypatch.setattr(decision.StudentAnswers, "answers_to_fresh", lambda *_: iter(()))
    assert "your values are right" in departure("training.noam", noam)["sentence"]


def test_where_too_few_questions_can_be_asked_nothing_is_said(monkeypatch):
    source = RIGHT.replace(SCORES, "q @ v.mT / math.sqrt(q.shape[-1])")
    monkeypatch.setattr(decision.StudentAnswers, "answers_to_fresh", lambda *_: iter(()))
    assert "your values are right" not in departure(ATTENTION, source)["sentence"]


def test_a_length_that_never_changes_is_no_ones(monkeypatch):
    """A batch of two is as long as two heads, whatever is drawn."""
    source = RIGHT.replace(SCORES, "q @ k.mT")
    kept = decision.StudentAnswers.answers_to_fresh

    def of_one_width(asked, trace):
        """Those in which `q` has the width of the question at hand."""
        width = asked.probe.case.args[0].shape[-1]
        return (one for one in kept(asked, trace) if one[1].case.args[0].shape[-1] == width)

    monkeypatch.setattr(decision.StudentAnswers, "answers_to_fresh", of_one_width)
    monkeypatch.setattr(decision, "FEWEST_WRONG", 0)
    monkeypatch.setattr(decision, "FEWEST", 0)
    assert "the number of columns" not in departure(ATTENTION, source)["sentence"]


def test_of_several_like_places_in_a_line_one_is_told():
    source = RIGHT.replace("weights @ v, weights", "weights @ k + 0 * k[..., :1, :1] * k[..., :1, :1], weights")
    assert departure(ATTENTION, source)["sentence"] == (
        "with `v` in place of one `k` in this line your values are right"
    )


def test_two_mistakes_have_no_decision():
    """No single change makes the answer right."""
    source = RIGHT.replace(SCORES, "q @ k.mT").replace("weights @ v, weights", "weights @ k, weights")
    assert "your values are right" not in departure(ATTENTION, source)["sentence"]


def test_a_decision_is_told_in_french(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    source = RIGHT.replace(SCORES, "k @ q.mT / math.sqrt(q.shape[-1])")
    assert departure(ATTENTION, source)["sentence"] == (
        "`k @ q.mT` a une ligne pour chaque ligne de `k` et une colonne pour chaque ligne de `q`\u00a0; si l'on échange"
        " lignes et colonnes, vos valeurs sont justes"
    )
