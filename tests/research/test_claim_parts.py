"""What claims compute by themselves, against values that are known."""

from __future__ import annotations

import math
from types import SimpleNamespace

import torch

from research.claims import (
    dense_retrieval,
    future_streams,
    grouped_queries,
    induction,
    low_rank,
    permutation_order,
    pre_norm,
    pretraining_helps,
    replaced_tokens,
)
from research.claims._emoji import emoji
from research.claims._english import docstrings, split_documents
from research.claims.translation_lm import retrieval_accuracy
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


def test_at_best_only_names_of_two_blanks_cost():
    """All words are blank: of three words each, two make a name, which costs log N of the three blanks."""
    size = permutation_order.Size(steps=1, names=4, in_row=3, rows=20)
    rows = permutation_order.rows_of_names(size, torch.Generator().manual_seed(0))
    batches = permutation_order.batches(rows, PermutationLM(1.0), 4)
    best = permutation_order.at_best(batches, size.names)
    assert math.isclose(best["one by one, at best"], math.log(4) / 3, rel_tol=1e-6)
    assert math.isclose(best["all at once, at best"], 2 * math.log(4) / 3, rel_tol=1e-6)


def test_key_heads_are_averaged_in_groups_of_neighbours():
    weight = torch.arange(8.0).repeat_interleave(3)[:, None].expand(24, 5)  # head number h is full of h
    assert grouped_queries.merge_heads(weight, 2, "mean").unique().tolist() == [1.5, 5.5]
    assert grouped_queries.merge_heads(weight, 2, "first").unique().tolist() == [0.0, 4.0]
    assert grouped_queries.merge_heads(weight, 1, "mean").shape == (3, 5)


def test_equal_heads_lose_nothing_when_they_are_averaged():
    """Eight equal key heads and one say the same."""
    shape = dict(vocab_size=20, d_model=16, n_layers=1, n_heads=8, d_head=4, d_ff=16)
    model = grouped_queries.tfkit.from_config("llama", "causal_lm", **shape)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "k_proj" in name or "v_proj" in name:
                weight.copy_(weight[:4].repeat(8, 1))
    ids = torch.arange(10)[None]
    one = grouped_queries.with_fewer_heads(model, 1, "mean")
    assert torch.allclose(one(input_ids=ids).logits, model(input_ids=ids).logits, atol=1e-5)
    full, shared = (grouped_queries.cache_bytes(each, 10) for each in (model, one))
    assert full == 8 * shared == 2 * 10 * 8 * 4 * 4


def test_a_repeated_row_has_each_symbol_twice():
    rows = induction.repeat_twice(5, 6, 9, torch.Generator().manual_seed(0))
    assert torch.equal(rows[:, :6], rows[:, 6:]) and all(len(set(row[:6].tolist())) == 6 for row in rows)


def test_the_exponent_of_a_power():
    assert math.isclose(pre_norm.exponent([2, 4, 8], [3 * d**-0.5 for d in (2, 4, 8)]), -0.5, rel_tol=1e-9)


def test_lora_learns_beside_frozen_weights_and_changes_nothing_at_first():
    model = low_rank.tfkit.from_config("llama", "causal_lm", vocab_size=20, d_model=16, n_layers=1, n_heads=2, d_ff=16)
    lora, ids = low_rank.add_lora(model, 1), torch.arange(10)[None]
    assert torch.equal(lora(input_ids=ids).logits, model(input_ids=ids).logits)
    learning = {name.rpartition(".")[2] for name, p in lora.named_parameters() if p.requires_grad}
    assert learning == {"a", "b"} and all(p.requires_grad for p in model.parameters())
