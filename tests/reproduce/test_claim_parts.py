"""What claims compute by themselves, against values that are known."""

from __future__ import annotations

import math
from types import SimpleNamespace

import torch

from tfkit.claims import dense_retrieval, future_streams, permutation_order, pretraining_helps, replaced_tokens
from tfkit.claims._emoji import emoji
from tfkit.claims._english import docstrings, split_documents
from tfkit.claims.translation_lm import retrieval_accuracy
from tfkit.objectives.permutation_lm import PermutationLM


def test_bm25_by_hand():
    scores = dense_retrieval.bm25(["a c"], ["A b.", "b b", "c, b"])
    idf = math.log(1 + 2.5 / 1.5)  # in one of three; all are as long as their mean
    assert torch.allclose(scores, torch.tensor([[idf, 0.0, idf]]))
    longer = dense_retrieval.bm25(["a"], ["a b", "a b b b"])[0]
    assert longer[0] > longer[1] > 0


def test_summing_over_what_may_come_between():
    """A chain of three symbols has its two-step probabilities in the square of its matrix."""
    chain = torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.4, 0.1], [0.3, 0.3, 0.4]])
    model = lambda input_ids: SimpleNamespace(logits=chain.log()[input_ids])
    rows = torch.tensor([[0, 1, 2, 1], [2, 0, 0, 2]])
    want = -(chain @ chain)[rows[:, 1], rows[:, 3]].log().mean()
    assert math.isclose(future_streams.sum_over_next(model, rows, [2], 3), want.item(), rel_tol=1e-5)


def test_neighbours_change_places_where_the_label_says():
    ids = torch.arange(5, 17).repeat(200, 1)
    spoilt, labels = replaced_tokens.swap_neighbours(ids, torch.Generator().manual_seed(0))
    assert torch.equal((spoilt != ids).sum(1), 2 * labels) and 60 < labels.sum() < 140
    assert torch.equal(spoilt.sort(1).values, ids) and ((spoilt - ids).abs() <= 1).all()


def test_all_at_once_hides_every_blank_from_every_place():
    ids = torch.arange(5, 25).repeat(4, 1)
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    given = permutation_order.AllAtOnce(PermutationLM(0.4))(batch, torch.Generator().manual_seed(0))
    blank = given["target_mapping"].sum(1)
    assert (blank.sum(1) == 8).all() and torch.equal(given["perm_mask"], blank[:, None].expand(4, 20, 20))


def test_pretraining_reads_no_first_line_and_nothing_held_out():
    _, held = split_documents(docstrings(), seed=1)
    texts = set(pretraining_helps.plain(held[:50]))
    assert not any(d.body in texts or f"{d.summary} {d.body}" in texts for d in held[:50])
    assert any(d.body in texts for d in docstrings()) and not any(d.summary in texts for d in docstrings())


def test_translations_found_there_and_back():
    english = torch.eye(3)
    assert retrieval_accuracy(english, english) == 1.0
    assert math.isclose(retrieval_accuracy(english, english[[1, 0, 2]]), 1 / 3, rel_tol=1e-6)


def test_emoji_are_pictures_with_names_and_groups():
    known = emoji()
    ink = known.patches.sum((1, 2))
    assert len(known.names) == len(known.groups) == len(known.patches) > 1000 and known.patches.shape[1:] == (4, 256)
    assert (ink > 10).all() and known.groups.unique().numel() == 9
    assert known.patches.flatten(1).unique(dim=0).size(0) > 0.97 * len(ink), "hardly two look alike"
