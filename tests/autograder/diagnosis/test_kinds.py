"""Where no collected mistake fits, the kind of thing that is wrong is said; what is right is never spoken of."""

from __future__ import annotations

from functools import lru_cache

import pytest
import torch

from autograder.checks.compare import compare
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer, Case, Check, Finding, Probe, collect_answers
from autograder.checks.reference import reference_of
from autograder.corpus.diagnosis import held_out, measure_diagnosis
from autograder.corpus.judge import ask_reference
from autograder.diagnosis.diagnose import diagnose, edge_answers
from autograder.diagnosis.kinds import _common, _of_entries, kind
from autograder.exercises import registry

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


CHECKERED = (
    "import torch\ndef causal_mask(n):\n    return torch.ones(n, n).bool().tril() ^ (torch.arange(n) % 2 == n % 3)\n"
)


def test_nothing_is_said_of_nan_where_no_number_is_asked_for():
    assert "NaN" not in (said(CAUSAL, CHECKERED) or "")


def rows(*wrong):
    """Answers whose entries are wrong at these places."""
    probe = Probe(lambda subject: None, Case("f", ()))
    right = [torch.zeros(one.shape) for one in wrong]
    made = [one.float() for one in wrong]
    return [Answer(probe, one, two, compare(one, two)) for one, two in zip(right, made, strict=True)]


PARTS = [
    ([[[0, 0], [0, 1]], [[0, 0], [1, 1]]], "all but the last row are right"),
    ([[[0, 1], [0, 1]], [[0, 0, 1]]], "all but the last entry of the last axis are right"),
    ([[[0, 0], [0, 1]], [[1, 1]]], None),  # a single row is the last
    ([[[0, 1], [1, 1]], [[0, 0, 1], [1, 0, 1], [1, 1, 1]]], None),  # each has rows of its own that are right
    ([[[0, 0], [0, 1]], [[0, 0, 0], [0, 0, 1], [0, 1, 1]]], "only the first row is right"),
    ([[[0, 0], [1, 0]], [[0, 0], [1, 1]]], "all but the last row are right"),
    ([[[0, 0], [1, 1], [1, 0]], [[0, 0], [0, 1], [1, 1]]], "only the first row is right"),
    ([[[0, 0], [0, 1], [0, 0]], [[0, 0], [0, 1], [1, 1]]], None),  # the last row is right, too, in one of them
    ([[[1]], [[1]]], None),
]


@pytest.mark.parametrize(("wrong", "words"), PARTS)
def test_a_part_is_right_only_where_it_is_there(wrong, words):
    found = _of_entries(rows(*map(torch.tensor, wrong)))
    assert found is None if words is None else words in found


def test_what_failed_cases_have_in_common_is_true_of_the_example_and_of_more_than_two():
    """An answer that is wrong for masks of more than one row, by chance where the batch has several entries."""
    check = Check("right values", lambda draw, reference: (), core=True)
    reference = reference_of(registry.find(ATTENTION))

    def asked(batch, wrong):
        case = Case("scaled_dot_product_attention", (torch.ones(batch, 2, 3),) * 3)
        one, two = torch.zeros(2), torch.full((2,), float(wrong))
        return Answer(Probe(lambda subject: None, case), one, two, compare(one, two))

    answers = tuple(asked(batch, batch > 1) for batch in (1, 1, 1, 2, 3, 4))
    claim = "several entries along axis 0"
    assert claim in _common([Finding(check, answers)], reference, [])
    assert _common([Finding(check, answers[2:])], reference, []) is None  # one case passes: it may be chance
    assert _common([Finding(check, answers)], reference, [asked(1, True)]) is None
    edge = Finding(Check("edge", lambda draw, reference: (), property="edges"), (asked(2, False),))
    assert _common([Finding(check, answers), edge], reference, []) is None


def test_an_edge_case_has_no_name_where_ordinary_values_are_wrong():
    exercise = registry.find("objectives.causal_lm")
    unshifted = """
import torch.nn.functional as F
def causal_lm_loss(logits, ids, pad_id):
    return F.cross_entropy(logits[:, 1:].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=pad_id)
"""
    namespace: dict = {}
    exec(unshifted, namespace)
    findings = collect_answers(question_sets(exercise, 5), LocalSubject(namespace))
    found = diagnose(exercise, findings)
    assert {"values", "edges"} <= {finding.check.property for finding in findings if finding.failed}
    assert found is None or found.name not in {answer.stem for answer in edge_answers(exercise)}
