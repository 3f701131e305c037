"""A collected mistake is named beside another one: of the same line, of another style, or one that is not collected."""

from __future__ import annotations

from functools import cache

import pytest

from autograder.api import BESIDES, SEPARATOR
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Finding, collect_answers
from autograder.checks.reference import reference_of
from autograder.corpus.judge import ask_reference
from autograder.diagnosis.compose import are_compatible, merged_source
from autograder.diagnosis.diagnose import Misconception, diagnose
from autograder.diagnosis.kinds import _varied, explain, kind
from autograder.diagnosis.programs import Program
from autograder.diagnosis.refute import is_refuted
from autograder.diagnosis.second_mistake import edited_lines
from autograder.exercises import registry
from autograder.exercises.answers import EditedAnswer, answer

BETWEEN_HINTS = f"\n\n{BESIDES} "

CELL, ATTEND, NORM = (registry.find(name) for name in ("rnn.cell", "attention.attend", "modern.rms_norm"))
EACH_WITHOUT_BIAS = """
import torch
def rnn_cell(x, h, w_x, w_h, b):
    state = torch.zeros_like(h)
    for term, weight in ((x, w_x), (h, w_h)):
        state = state + torch.einsum("bi,io->bo", term, weight).tanh()
    return state
"""
LATE_MASK_AND_MEAN = """
import torch
def attend(query, states, mask=None):
    weights = torch.softmax((states @ query.unsqueeze(-1)).squeeze(-1), -1)
    if mask is not None:
        weights = weights * mask
    return (weights.unsqueeze(-1) * states).mean(1), weights
"""
LARGEST_AND_NO_MEAN = """
import torch
def rms_norm(x, weight, eps=1e-6):
    x = x - x.mean(-1, keepdim=True)
    return x * (x.square().amax(-1, keepdim=True) + eps).rsqrt() * weight
"""
LENGTH_IN_FLOAT32 = """
import torch
def rms_norm(x, weight, eps=1e-6):
    x = x.float() if x.dtype != torch.float64 else x
    return x / (x.pow(2).sum(-1, keepdim=True) + eps).sqrt() * weight.to(x.dtype)
"""

BEST_STATE = """
import torch
def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(-1).masked_fill(~mask, -1e9)
    weights = torch.softmax(scores, -1) * mask
    best = keys[torch.arange(len(keys)), weights.argmax(-1)]
    return best * mask.any(-1, keepdim=True), weights
"""
PAIRED_HALVES = """
import torch
def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    x = x.float() if x.dtype == torch.bfloat16 or "LARGEST" == "float32" else x
    freqs = 1.0 / base ** (torch.arange(0, d, 2).to(x.dtype) / d)
    angles = positions[:, None].to(x.dtype) * freqs[None]
    cos, sin = (torch.cat([one, one], -1) for one in (angles.cos(), angles.sin()))
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin
"""


@cache
def asked(exercise, source: str) -> tuple[LocalSubject, list[Finding]]:
    subject = LocalSubject.from_source(source)
    return subject, collect_answers(ask_reference(exercise, 5), subject)


def explained(exercise, source: str) -> Misconception | str | None:
    subject, findings = asked(exercise, source)
    assert diagnose(exercise, findings) is None, "no mistakes of which each has lines of its own"
    return explain(exercise, findings, reference_of(exercise), subject)


def test_two_mistakes_of_one_line_are_both_named():
    found = explained(CELL, EACH_WITHOUT_BIAS)
    assert isinstance(found, Misconception) and set(found.names) == {"tanh_before_the_sum", "bias_forgotten"}
    assert not are_compatible(tuple(answer(CELL, name) for name in found.names))
    assert len(found.hint.split(BETWEEN_HINTS)) == 2


def test_a_transformation_of_what_a_mistake_gives_is_told_beside_it():
    found = explained(ATTEND, LATE_MASK_AND_MEAN)
    assert isinstance(found, Misconception) and found.names == ("mask_after_softmax",)
    _, rest = found.hint.split(BETWEEN_HINTS)
    assert "what the first mistake alone gives" in rest and "divided by the size of" in rest and "of `keys`" in rest


def test_a_mistake_that_would_spoil_what_is_right_is_not_named():
    """Scaled scores, scaled back, are no two mistakes: the weights are right, and only the context is wrong."""
    found = explained(ATTEND, BEST_STATE)
    assert not isinstance(found, Misconception)


def test_one_change_of_a_mistakes_code_is_told_beside_it():
    found = explained(NORM, LARGEST_AND_NO_MEAN)
    assert isinstance(found, Misconception) and found.names == ("mean_subtracted",)
    assert "mean by sum or min by max" in found.hint.split(BETWEEN_HINTS)[1]


def test_a_mistake_that_may_not_be_named_is_not_said_beside_another():
    subject, findings = asked(CELL, EACH_WITHOUT_BIAS)
    told = kind(CELL, findings, reference_of(CELL), subject, [answer(CELL, "relu_instead_of_tanh")])
    assert told is None or "activation" not in told


def test_what_a_named_mistake_does_not_explain_is_said_or_named():
    _, findings = asked(NORM, LENGTH_IN_FLOAT32)
    found = diagnose(NORM, findings)
    assert found is not None and set(found.names) == {"sum_of_squares", "float32_returned"}


@pytest.mark.parametrize(("in_dtype", "second"), [("bfloat16", False), ("float32", True)])
def test_a_second_mistake_gives_the_types_that_are_right_as_well(in_dtype, second):
    """Angles in float32 make float32 of bfloat16 and leave float64 as it is: nothing is float32 whatever comes in."""
    exercise = registry.find("positions.rotary")
    _, findings = asked(exercise, PAIRED_HALVES.replace("LARGEST", in_dtype))
    found = diagnose(exercise, findings)
    assert found is not None and found.names[0] == "halves_instead_of_pairs"
    assert found.names[1:] == (("float32_whatever_comes_in",) if second else ())
    assert second or "does not explain the type of your result" in found.hint


@pytest.mark.parametrize(("name", "refuted"), [("relu_instead_of_tanh", False), ("sigmoid_instead_of_tanh", True)])
def test_fresh_answers_refute_a_name(name, refuted):
    subject, findings = asked(CELL, answer(CELL, "relu_instead_of_tanh").read_text())
    assert is_refuted(CELL, Misconception(name, ""), findings, reference_of(CELL), subject) is refuted


@pytest.mark.parametrize(("name", "refuted"), [("nan_on_empty_row", False), ("empty_row_averages", True)])
def test_fresh_edge_cases_refute_the_name_of_an_edge_case(name, refuted):
    exercise = registry.find("masks.softmax")
    subject, findings = asked(exercise, answer(exercise, "nan_on_empty_row").read_text())
    assert is_refuted(exercise, Misconception(name, ""), findings, reference_of(exercise), subject) is refuted


def test_of_two_names_without_a_merged_program_the_first_is_what_fresh_answers_may_refute():
    """`mask_ignored` is a program of its own, no edit; it gives the values, and the second name another property."""
    exercise = registry.find("attention.scaled_dot_product")
    subject, findings = asked(exercise, answer(exercise, "mask_ignored").read_text())
    named = Misconception(SEPARATOR.join(["mask_ignored", "weights_without_gradient"]), "")
    assert not is_refuted(exercise, named, findings, reference_of(exercise), subject)
    subject, findings = asked(exercise, answer(exercise, "no_scale").read_text())
    assert is_refuted(exercise, named, findings, reference_of(exercise), subject)


def test_a_size_is_named_only_if_it_varies():
    assert _varied([{"a": 3, "b": 3}, {"a": 3, "b": 4}]) == ["b"]


def test_a_mistake_of_another_style_is_made_where_its_lines_stand():
    exercise = registry.find("attention.multi_head")
    pair = tuple(
        one
        for name in ("mask_after_softmax", "output_projection_forgotten")
        if isinstance(one := answer(exercise, name), EditedAnswer)
    )
    text = merged_source(pair)
    assert len({one.base for one in pair}) == 2 and text is not None
    assert "masked_fill(~mask, 0.0)" in text and "return (output, weights)" in text
    assert merged_source(pair[:1]) == pair[0].read_text()


def test_no_change_is_made_in_a_mistakes_own_lines():
    mistake = answer(CELL, "relu_instead_of_tanh")
    assert isinstance(mistake, EditedAnswer)
    text, kept = mistake.read_text(), edited_lines(mistake)
    assert [text.splitlines()[number - 1] for number in sorted(kept)] == [
        "    return torch.relu(x @ w_x + h @ w_h + b)"
    ]
    assert list(Program(text, ("rnn_cell",)).single())
    everything = frozenset(range(len(text.splitlines()) + 1))
    assert not list(Program(text, ("rnn_cell",), everything).single())


MEAN_WITH_PADDING = """
import torch.nn.functional as F
def pool_sequence(x, mask):
    batch, length, size = x.shape
    if length % 2:
        x, mask = F.pad(x, (0, 0, 0, 1)), F.pad(mask, (0, 1), value=False)
    kept = mask.view(batch, -1, 2).any(-1)
    return x.view(batch, -1, 2, size).mean(2) * kept.unsqueeze(-1), kept
"""


def test_an_edge_case_that_the_same_mistake_spoils_in_other_code_is_not_told_as_another_one():
    exercise = registry.find("funnel.pool")
    subject = LocalSubject.from_source(MEAN_WITH_PADDING, "own")
    findings = collect_answers(ask_reference(exercise, 3), subject)
    found = diagnose(exercise, findings)
    assert any(finding.failed for finding in findings if finding.check.property == "edges")
    assert found is not None and len(found.names) == 1 and "does not explain" not in found.hint
