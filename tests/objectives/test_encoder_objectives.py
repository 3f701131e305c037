"""Sentence pairs, replaced tokens, distillation, translation pairs, permutations: against loops by hand."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from tfkit.objectives.control_codes import with_control_code
from tfkit.objectives.distillation import distillation_loss
from tfkit.objectives.permutation_lm import PermutationLM, permutation_masks
from tfkit.objectives.replaced_tokens import replace_tokens, replaced_token_detection_loss
from tfkit.objectives.sentence_pairs import next_sentence_pairs, sentence_order_pairs
from tfkit.objectives.text_to_text import (
    GLUE,
    LABELS,
    PREFIXES,
    SUPERGLUE,
    mark_pronoun,
    similarity_label,
    text_to_text,
)
from tfkit.objectives.translation_lm import translation_lm_inputs

DOCUMENTS = [["a1", "a2", "a3"], ["b1"], ["c1", "c2"]]


def test_next_sentences():
    pairs = next_sentence_pairs(DOCUMENTS, [0.1, 0.5, 0.9], [(2, 1), (1, 0), (0, 0)])
    assert pairs == [("a1", "a2", True), ("a2", "b1", False), ("c1", "a1", False)]


def test_sentence_order():
    assert sentence_order_pairs(DOCUMENTS, [0.1, 0.5, 0.49]) == [
        ("a2", "a1", True),
        ("a2", "a3", False),
        ("c2", "c1", True),
    ]


def test_replaced_tokens_are_those_that_differ():
    logits = torch.tensor([[2.0, -1.0, 0.5, 9.0]])
    original, corrupted = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[5, 9, 7, 0]])
    mask = torch.tensor([[True, True, True, False]])
    p = logits.sigmoid()[0]
    expected = -((1 - p[0]).log() + p[1].log() + (1 - p[2]).log()) / 3
    torch.testing.assert_close(replaced_token_detection_loss(logits, original, corrupted, mask), expected)
    assert replaced_token_detection_loss(logits, original, corrupted, mask & False) == 0


def test_the_generators_samples_follow_its_probabilities_and_carry_no_gradient():
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0]).repeat(1, 20_000, 1).requires_grad_()
    masked, labels = torch.full((1, 20_000), 9), torch.full((1, 20_000), 3)
    u = torch.rand(logits.shape, generator=torch.Generator().manual_seed(0)).clamp(min=1e-7)
    sampled = replace_tokens(masked, labels, logits, u)
    shares = torch.bincount(sampled[0], minlength=4) / 20_000
    torch.testing.assert_close(shares, logits[0, 0].softmax(-1), atol=0.015, rtol=0)
    assert torch.equal(replace_tokens(masked, torch.full_like(labels, -100), logits, u), masked)


def test_distillation_is_three_means():
    torch.manual_seed(0)
    student, teacher = torch.randn(2, 3, 5).double(), torch.randn(2, 3, 5).double()
    h, g = torch.randn(2, 3, 4).double(), torch.randn(2, 3, 4).double()
    mask = torch.tensor([[True, True, False], [True, False, False]])
    labels = torch.tensor([[1, -100, -100], [4, -100, -100]])
    losses = distillation_loss(student, teacher, labels, h, g, mask, 3.0)
    p, q = (teacher / 3).softmax(-1), (student / 3).softmax(-1)
    divergence = (p * (p / q).log()).sum(-1)
    torch.testing.assert_close(losses["soft"], 9 * divergence[mask].mean())
    torch.testing.assert_close(losses["hard"], F.cross_entropy(student.flatten(0, 1), labels.flatten()))
    cosine = (h * g).sum(-1) / (h.norm(dim=-1) * g.norm(dim=-1))
    torch.testing.assert_close(losses["cosine"], (1 - cosine)[mask].mean())


def test_translation_pairs_restart_positions():
    assert translation_lm_inputs([7, 8], [9], 0, 1, 2) == ([7, 8, 2, 9, 2], [0, 1, 2, 0, 1], [0, 0, 0, 1, 1])


def test_permutation_masks_are_the_factorisation_of_every_order_of_four():
    for order in itertools.permutations(range(4)):
        content, query = permutation_masks(torch.tensor(order))
        for t, position in enumerate(order):
            earlier = set(order[:t])
            assert set(query[position].nonzero()[:, 0].tolist()) == earlier
            assert set(content[position].nonzero()[:, 0].tolist()) == earlier | {position}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=1, max_size=4), st.integers(0, 2**31), st.floats(0.05, 1.0))
def test_permutation_batches_hide_a_target_from_itself_and_from_what_came_before(lengths, seed, share):
    width = max(lengths)
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]
    ids = torch.randint(5, 99, mask.shape).where(mask, 0)
    objective = PermutationLM(share)
    batch = {"input_ids": ids, "attention_mask": mask.long()}
    draws = objective.draw(batch, torch.Generator().manual_seed(seed))
    out = objective.corrupt(batch, draws)
    for b, n in enumerate(lengths):
        wanted = out["labels"][b] != -100
        places = out["target_mapping"][b][wanted].argmax(-1)
        assert len(places.unique()) == len(places) == -(-n * share // 1)
        assert torch.equal(ids[b, places], out["labels"][b][wanted])
        assert not out["target_mapping"][b][~wanted].any()
        order = sorted(places.tolist(), key=lambda i: draws["order_u"][b, i].item())
        context = set(range(n)) - set(order)
        hidden = out["perm_mask"][b].bool()
        for t, position in enumerate(order):
            assert set((~hidden[position]).nonzero()[:, 0].tolist()) & set(range(n)) == context | set(order[:t])
        for position in context:
            assert set(hidden[position].nonzero()[:, 0].tolist()) == set(order)


def test_permutation_of_an_empty_batch():
    objective, batch = PermutationLM(), {"input_ids": torch.empty(0, 5, dtype=torch.int64)}
    out = objective.corrupt(batch, objective.draw(batch))
    shapes = [out[name].shape for name in ("perm_mask", "target_mapping", "labels")]
    assert shapes == [(0, 5, 5), (0, 0, 5), (0, 0)]


def test_control_codes_come_first_and_padding_is_not_scored():
    batch = {"input_ids": torch.tensor([[5, 6], [7, 0]]), "attention_mask": torch.tensor([[1, 1], [1, 0]])}
    out = with_control_code(batch, torch.tensor([90, 91]))
    assert out["input_ids"].tolist() == [[90, 5, 6], [91, 7, 0]]
    assert out["labels"].tolist() == [[-100, 5, 6], [-100, 7, -100]]
    assert out["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]


def test_text_to_text():
    assert text_to_text("stsb", sentence1="A.", sentence2="B.") == "stsb sentence1: A. sentence2: B."
    assert similarity_label(2.57) == "2.6" and similarity_label(5) == "5.0"


def test_superglue_as_text():
    fields = {"hypothesis": "It rained.", "premise": "Wet.", "choice1": "A.", "choice2": "B.", "question": "cause"}
    assert text_to_text("copa", **fields) == "copa choice1: A. choice2: B. premise: Wet. question: cause"
    assert text_to_text("super_rte", **fields) == "rte hypothesis: It rained. premise: Wet."
    assert len(SUPERGLUE) == 8 and {*GLUE, *SUPERGLUE} <= PREFIXES.keys() and LABELS.keys() <= PREFIXES.keys()


def test_a_pronoun_is_marked():
    assert mark_pronoun("The fish ate the worm. It was tasty.", 5) == "The fish ate the worm. *It* was tasty."
    assert mark_pronoun("a b c", 1, 2) == "a *b c*"
    with pytest.raises(ValueError, match="words 3 to 3 are not in the text, which has 3"):
        mark_pronoun("a b c", 3)


def test_text_to_text_says_what_is_wrong():
    with pytest.raises(ValueError, match="no task 'sumarise'; available: translation, summarization"):
        text_to_text("sumarise", text="")
    with pytest.raises(ValueError, match="cola: the field 'sentence' is missing"):
        text_to_text("cola", text="x")
