"""Where no collected mistake fits, the kind of thing that is wrong is said; what is right is never spoken of."""

from __future__ import annotations

from functools import lru_cache

import pytest

from autograder import registry
from autograder.checks.corpus import ask_reference
from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers
from autograder.checks.reference import reference_of
from autograder.diagnosis.kinds import kind
from autograder.diagnosis.measure import held_out, measure_diagnosis

question_sets = lru_cache(maxsize=4)(ask_reference)
CAUSAL, ATTENTION, RAG = "masks.causal", "attention.scaled_dot_product", "rag.token"
ATTEND = """
import torch
def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) * SCALE
    if mask is not None:
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
    w = s.softmax(-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return w @ v, w
"""
CASES = [
    (CAUSAL, "import torch\ndef causal_mask(n):\n    return ~torch.ones(n, n).bool().tril()\n", "inverted"),
    (
        CAUSAL,
        "import torch\ndef causal_mask(n):\n    return torch.ones(n, n).bool().triu()\n",
        "last two axes swapped",
    ),
    (CAUSAL, "import torch\ndef causal_mask(n):\n    raise KeyError('no')\n", "raises an error"),
    (
        ATTENTION,
        ATTEND.replace("SCALE", "0.5 / q.size(-1) ** 0.5"),
        "scores before your softmax are the right ones times 0.5",
    ),
    (ATTENTION, ATTEND.replace("SCALE", "q.size(-1) ** -0.7"), "a factor that differs from case to case"),
]


def said(exercise_id: str, source: str) -> str | None:
    exercise, namespace = registry.find(exercise_id), {}
    exec(source, namespace)
    findings = collect_answers(question_sets(exercise, 5), LocalSubject(namespace))
    return kind(exercise, findings, reference_of(exercise))


@pytest.mark.parametrize(("exercise_id", "source", "words"), CASES, ids=lambda case: case[:20].strip())
def test_the_kind_is_said(exercise_id, source, words):
    symbols = registry.find(exercise_id).symbols
    assert words in (said(exercise_id, source) or "nothing"), symbols


def test_the_kind_is_said_in_the_readers_language(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    exercise_id, source, _ = CASES[0]
    assert (said(exercise_id, source) or "").startswith("Votre résultat est le bon, mais inversé")


def test_of_a_right_answer_nothing_is_said():
    assert said(ATTENTION, ATTEND.replace("SCALE", "q.size(-1) ** -0.5")) is None


def test_the_report_counts_two_mistakes_and_what_is_not_collected():
    exercise = registry.find(RAG)
    score = measure_diagnosis(exercise, question_sets(exercise, 5), seed=5)
    assert score.pairs == 6 and score.both_named >= 4 and score.one_named == 6, score.notes
    assert score.uncollected >= 4 and "both named" in score.line
    held = [one.stem for one in held_out(exercise)]
    assert score.held == len(held) == 2 and not any(note.startswith(tuple(held)) for note in score.notes)
