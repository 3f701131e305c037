"""Where no collected mistake fits, the kind of thing that is wrong is said; what is right is never spoken of."""

from __future__ import annotations

from functools import lru_cache

import pytest
import torch

from autograder.checks.compare import compare
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer, Case, Probe, collect_answers
from autograder.checks.reference import reference_of
from autograder.checks.shrink import shrink_counterexample
from autograder.corpus.diagnosis import held_out, measure_diagnosis
from autograder.corpus.judge import ask_reference
from autograder.diagnosis.compose import subject_of
from autograder.diagnosis.conditions import shared_features
from autograder.diagnosis.diagnose import diagnose, edge_answers
from autograder.diagnosis.evidence import Replies
from autograder.diagnosis.kinds import _of_entries, kind
from autograder.exercises import registry
from autograder.exercises.answers import answers

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
        "what a softmax makes of the right scores times 0.5",
    ),
    (
        ATTENTION,
        ATTEND.replace("SCALE", "q.size(-1) ** -0.5").replace("return w @ v", "return (w @ v).mT"),
        "Of your results, the first is the right one with its last two axes swapped",
    ),
    (ATTENTION, ATTEND.replace("SCALE", "q.size(-1) ** -0.7"), "a factor that differs from case to case"),
    (CAUSAL, "import torch\ndef causal_mask(n):\n    return torch.ones(n, n).tril()\n", "their shape or type is not"),
]


def said(exercise_id: str, source: str, seed: int = 5) -> str | None:
    exercise, namespace = registry.find(exercise_id), {}
    exec(source, namespace)
    subject, reference = LocalSubject(namespace), reference_of(exercise)
    findings = collect_answers(question_sets(exercise, seed), subject)
    right = [subject_of(path) for path in answers(exercise, "right")]
    return kind(exercise, shrink_counterexample(findings, subject, reference, right), reference, subject)


@pytest.mark.parametrize(("exercise_id", "source", "words"), CASES, ids=lambda case: case[:20].strip())
def test_the_kind_is_said(exercise_id, source, words):
    symbols = registry.find(exercise_id).symbols
    assert words in (said(exercise_id, source) or "nothing"), symbols


def test_the_kind_is_said_in_the_readers_language(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    exercise_id, source, _ = CASES[0]
    assert (said(exercise_id, source) or "").startswith("Votre résultat est le bon, mais inversé")


def test_gradients_that_are_no_numbers_are_not_said_to_be_detached():
    scale = "q.size(-1) ** -0.5"
    nan = said(ATTENTION, ATTEND.replace("SCALE", f"{scale} + 0 * (0 * q).sum(-1, keepdim=True).sqrt()")) or ""
    assert "their gradients are not numbers" in nan and "detached" not in nan
    assert "look for what is detached" in (
        said(ATTENTION, ATTEND.replace("SCALE", scale).replace("@ v, w", "@ v, w.detach()")) or ""
    )


def test_code_that_stops_at_a_layout_in_memory_is_not_told_of_a_dtype():
    viewed = ATTEND.replace("SCALE", "q.size(-1) ** -0.5").replace("k.transpose(-2, -1)", "k.view(k.shape).mT")
    told = said(ATTENTION, viewed.replace("k.view(k.shape)", "k.view(-1).view(k.shape)"))
    assert "of the check “non-contiguous inputs”" in told and "dtype" not in told, told


def test_of_a_result_in_another_form_its_values_are_not_all_that_is_wrong():
    inverted = "def padding_mask(ids, pad_id):\n    return ids == pad_id\n"
    told = said("masks.padding", inverted)
    assert "Besides, the shape or type of your result is wrong" in told, told
    assert "Besides" not in said(
        "masks.padding", inverted.replace("pad_id\n", "pad_id)[:, None, None]\n").replace("n ids", "n (ids")
    )


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


UNTRUE = [  # answers that nobody had collected, and what was said of them although it is not so
    (
        "attention.attend",
        """
import torch, torch.nn.functional as F
def attend(query, keys, mask=None):
    scores = torch.einsum("bd,bkd->bk", F.normalize(query, dim=-1), F.normalize(keys, dim=-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    return torch.einsum("bk,bkd->bd", weights, keys), weights
""",
        ("wrong where", "row"),
    ),
    (
        "masks.padding",
        """
def padding_mask(ids, pad_id):
    return (ids > pad_id)[:, None, None]
""",
        ("row", "column"),
    ),
    (
        "objectives.mlm",
        """
import torch
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = ~special & (select_u < rate)
    labels = torch.where(chosen, ids, -100)
    inputs = torch.where(chosen & (kind_u < 0.8), mask_id, ids)
    return torch.where(chosen & (kind_u >= 0.9), random_ids, inputs), labels
""",
        ("diagonal", "row", "column", "NaN"),
    ),
    (
        "decoding.top_p",
        """
import torch
def top_p_filter(logits, p):
    order = logits.sort(descending=True)
    remove = order.values.softmax(-1).cumsum(-1) > p
    return logits.masked_fill(torch.zeros_like(remove).scatter(-1, order.indices, remove), -torch.inf)
""",
        ("sum to one",),
    ),
    (
        "masks.padding",
        """
import torch
def padding_mask(ids, pad_id):
    return torch.ones_like(ids, dtype=torch.bool)[:, None, None]
""",
        ("sigmoid",),
    ),
    (
        "sparse.bigbird",
        """
import torch
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    at = torch.arange(n)
    mask = (at[:, None] - at).abs() < max(window_blocks // 2, 1)
    mask.scatter_(1, random_blocks, True)
    mask[:global_blocks], mask[:, :global_blocks] = True, True
    return mask.repeat_interleave(block, 0).repeat_interleave(block, 1)
""",
        ("half", "by one", "by two"),
    ),
]


@pytest.mark.parametrize(("exercise_id", "source", "words"), UNTRUE, ids=[case[0] for case in UNTRUE])
def test_what_is_not_so_is_not_said(exercise_id, source, words):
    told = said(exercise_id, source, 11) or ""
    assert not any(word in told for word in words), told


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
    found = _of_entries(Replies(rows(*map(torch.tensor, wrong)), [], None))
    assert found is None if words is None else words in found


def test_a_list_of_pairs_has_no_axes():
    right, wrong = [(1, 0.5), (2, 0.25)], [(1, 0.75), (2, 0.5)]
    probe = Probe(lambda subject: None, Case("f", ()))
    reply = Answer(probe, right, wrong, compare(right, wrong))
    assert _of_entries(Replies([reply, reply], [], None)) is None


def test_what_failed_cases_have_in_common_is_true_of_the_example_and_of_more_than_two():
    """An answer that is wrong for masks of more than one row, by chance where the batch has several entries."""

    def asked(batch, wrong):
        case = Case("scaled_dot_product_attention", (torch.ones(batch, 2, 3),) * 3)
        one, two = torch.zeros(2), torch.full((2,), float(wrong))
        return Answer(Probe(lambda subject: None, case), one, two, compare(one, two))

    replies = [asked(batch, batch > 1) for batch in (1, 1, 1, 2, 3, 4)]
    names = {"scaled_dot_product_attention": ["q", "k", "v"]}
    claim = "where `q` has several entries along axis 0"
    assert claim in shared_features(replies, names)
    assert shared_features(replies[2:], names) == []  # one case passes: it may be chance
    assert claim not in shared_features([*replies, asked(1, True)], names)
    assert claim not in shared_features([*replies, asked(2, False)], names)


def test_that_one_of_two_functions_is_wrong_says_nothing_of_its_arguments():
    def asked(symbol, wrong):
        one, two = torch.zeros(2), torch.full((2,), float(wrong))
        case = Case(symbol, (torch.ones(2, 3),))
        return Answer(Probe(lambda subject: None, case), one, two, compare(one, two))

    replies = [asked(symbol, symbol == "quantize") for symbol in ("quantize", "dequantize") for _ in range(4)]
    assert shared_features(replies, {"quantize": ["w"], "dequantize": ["q"]}) == []


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


LENGTH = """
import math, torch
from torch import nn
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.n_heads = n_heads
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        batch, length, width = query.shape
        split = lambda x: x.view(batch, length, self.n_heads, -1).transpose(1, 2)
        q, k, v = split(self.q_proj(query)), split(self.k_proj(key)), split(self.v_proj(value))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        weights = (scores if mask is None else scores.masked_fill(~mask, -1e30)).softmax(-1)
        weights = weights if mask is None else weights * mask
        return self.o_proj((weights @ v).transpose(1, 2).reshape(batch, length, width)), weights
"""


def test_of_a_crash_the_last_line_is_told_and_where_it_happens():
    told = said("attention.multi_head", LENGTH)
    assert "your code raises an error" in told and "invalid for input of size" in told
    assert "It stops where `query` and `key` have different sizes along axis 1, and only there." in told


def test_parameters_of_other_names_are_told_once():
    source = """
from torch import nn
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, *rest, **more):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(self.linear1(x).relu())
"""
    told = said("transformer.feed_forward", source)
    assert told.startswith(
        "Your class lacks the parameters `down.bias`, `down.weight`, `up.bias`, `up.weight`, and has"
    )


def told_of(exercise_id, at_hand, asked_again):
    """What is said if the answers at hand are those of one source, and those to fresh questions of another, or none."""
    exercise, subjects = registry.find(exercise_id), []
    for source in filter(None, (at_hand, asked_again)):
        namespace = {}
        exec(source, namespace)
        subjects.append(LocalSubject(namespace))
    findings = collect_answers(question_sets(exercise, 5), subjects[0])
    return kind(exercise, findings, reference_of(exercise), subjects[1] if asked_again else None)


DETACHED = ATTEND.replace("SCALE", "q.size(-1) ** -0.5").replace("return w @ v, w", "return w.detach() @ v, w.detach()")


def test_without_an_answer_to_fresh_questions_nothing_general_is_said():
    inverted, crashing = CASES[0][1], CASES[2][1]
    for exercise_id, source in ((CAUSAL, inverted), (CAUSAL, crashing), (ATTENTION, DETACHED)):
        assert told_of(exercise_id, source, source) is not None
        assert told_of(exercise_id, source, None) is None


def test_an_error_in_every_case_is_spoken_of_only_if_fresh_questions_raise_it_too():
    inverted, crashing = CASES[0][1], CASES[2][1]
    assert "In every case that fails, your code raises an error: " in told_of(CAUSAL, crashing, crashing)
    assert "In every case" not in (told_of(CAUSAL, crashing, inverted) or "")
