"""Texts that grow beyond the length that LongRoPE was trained with: the same ids as transformers, and as a model
without a cache. Beyond that length every position is rotated by other frequencies, the cached ones too."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace

import pytest
import torch

import tfkit
from tfkit.decode import Beam, Contrastive, Diverse, Greedy, Sample, Speculative, stream

hf = pytest.importorskip("transformers")
TRAINED = 8
SIZES = {
    "vocab_size": 99, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 40, "original_max_position_embeddings": TRAINED,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "rope_parameters": {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0, 1.1, 1.2, 1.3],
                        "long_factor": [4.0, 9.0, 14.0, 20.0]},
}  # fmt: skip
LENGTHS = {"crosses": 5, "reaches the border": TRAINED, "starts beyond": TRAINED + 3, "one before": TRAINED - 1}
STRATEGIES = [Greedy(), Sample(top_k=5), Beam(3), Diverse(4, groups=2), Contrastive(3)]


def pair(directory, seed=0):
    torch.manual_seed(seed)
    theirs = hf.Phi3ForCausalLM(hf.Phi3Config(**SIZES, sliding_window=None)).eval()
    for parameter in theirs.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter)
    theirs.save_pretrained(directory)
    return theirs, tfkit.from_pretrained(directory)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return pair(tmp_path_factory.mktemp("phi3"))


@pytest.fixture(scope="module")
def ours(both):
    return both[1]


def drawn(rows, length, seed=3):
    return torch.randint(3, 99, (rows, length), generator=torch.Generator().manual_seed(seed))


def left_padded(shortest=2, longest=6):
    """ids [3,L] and their mask; no row fills the whole width where `longest` is below 6"""
    lengths = torch.tensor([longest, shortest, longest - 1])
    mask = (torch.arange(6) >= 6 - lengths[:, None]).long()
    return drawn(3, 6).masked_fill(mask == 0, 0), mask


@torch.no_grad()
def by_whole_texts(model, ids, mask=None, new=12):
    """Greedy search that reads the whole text anew for each token -> ids [B,L+new]"""
    mask = torch.ones_like(ids) if mask is None else mask
    for _ in range(new):
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        token = model(input_ids=ids, attention_mask=mask, position_ids=positions).logits[:, -1].argmax(-1, keepdim=True)
        ids, mask = torch.cat([ids, token], 1), torch.cat([mask, torch.ones_like(token)], 1)
    return ids


def reading_whole_texts(model):
    """The same weights, of a class whose forward takes no cache: each step reads the whole text."""

    class Whole(type(model)):
        def forward(self, input_ids, attention_mask=None, position_ids=None):
            return super().forward(input_ids, attention_mask, position_ids)

    whole = copy.copy(model)
    whole.__class__ = Whole
    return whole


@pytest.mark.parametrize("length", LENGTHS.values(), ids=LENGTHS)
def test_greedy_search_equals_transformers_and_whole_texts(both, length):
    theirs, ours = both
    ids = drawn(3, length)
    found = tfkit.generate(ours, ids, end_id=-1, max_new_tokens=12)
    assert torch.equal(found, by_whole_texts(ours, ids))
    assert torch.equal(found, theirs.generate(ids, max_new_tokens=12, do_sample=False, eos_token_id=None))


def test_the_border_matters(ours):
    """Else these tests would say little: with the other frequencies other tokens follow."""
    other = copy.copy(ours)
    other.config = replace(ours.config, rope_scaling={**ours.config.rope_scaling, "long_factor": [1.0, 1.1, 1.2, 1.3]})
    ids = drawn(3, 5)
    assert not torch.equal(by_whole_texts(other, ids), by_whole_texts(ours, ids))
    assert torch.equal(by_whole_texts(other, ids, new=3), by_whole_texts(ours, ids, new=3))


@pytest.mark.parametrize("how", [{}, {"static_cache": True}, {"compile": "eager"}], ids=str)
@pytest.mark.parametrize("longest", [6, 4])
def test_batches_with_padding_on_the_left(both, longest, how):
    """The border is where the longest of the texts crosses it; padding that all rows have does not count."""
    theirs, ours = both
    ids, mask = left_padded(longest=longest)
    found = tfkit.generate(ours, ids, attention_mask=mask, end_id=-1, max_new_tokens=12, **how)
    assert torch.equal(found, by_whole_texts(ours, ids, mask))
    if longest == 6:  # else transformers restarts its cache too early
        expected = theirs.generate(ids, attention_mask=mask, max_new_tokens=12, do_sample=False, eos_token_id=None)
        assert torch.equal(found, expected)
    assert torch.equal(by_whole_texts(theirs, ids, mask), found)


@pytest.mark.parametrize("how", [{}, {"static_cache": True}, {"compile": "eager"}], ids=str)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
def test_every_strategy_decodes_as_without_a_cache(ours, strategy, how):
    found, expected = (
        tfkit.generate(
            model, drawn(2, 5), strategy, end_id=2, pad_id=0, max_new_tokens=9,
            generator=torch.Generator().manual_seed(5), **given,
        )
        for model, given in ((ours, how), (reading_whole_texts(ours), {}))
    )  # fmt: skip
    assert torch.equal(found, expected)


@torch.no_grad()
@pytest.mark.parametrize("beams", [1, 3])
def test_beams_equal_transformers(both, beams):
    theirs, ours = both
    ids, mask = left_padded()
    settings = {"attention_mask": mask, "num_beams": beams, "max_new_tokens": 10, "do_sample": False}
    expected = theirs.generate(ids, **settings)
    assert torch.equal(tfkit.generate(ours, ids, **settings), expected)


@pytest.mark.parametrize("how", [{}, {"compile": "eager"}], ids=str)
@pytest.mark.parametrize("base", [Greedy(), Sample(top_k=3)], ids=lambda s: s.name)
def test_rejected_guesses_go_back_across_the_border(ours, base, how, tmp_path):
    """A draft that guesses badly; tokens on both sides of the border are judged by the frequencies of their own."""
    draft = pair(tmp_path, seed=1)[1]
    found = tfkit.generate(
        ours, drawn(2, 6), Speculative(draft, 4, base), end_id=-1, max_new_tokens=12,
        generator=torch.Generator().manual_seed(5), **how,
    )  # fmt: skip
    if isinstance(base, Greedy):
        assert torch.equal(found, by_whole_texts(ours, drawn(2, 6)))
    whole = Speculative(reading_whole_texts(draft), 4, base)
    expected = tfkit.generate(
        reading_whole_texts(ours), drawn(2, 6), whole, end_id=-1, max_new_tokens=12,
        generator=torch.Generator().manual_seed(5),
    )  # fmt: skip
    assert torch.equal(found, expected)


def test_a_stream_crosses_the_border(ours):
    ids = drawn(1, 5)
    pieces = list(stream(ours, ids, end_id=-1, max_new_tokens=12))
    assert torch.equal(torch.cat([ids, *pieces], 1), by_whole_texts(ours, ids))


@torch.no_grad()
def test_a_cache_that_is_outgrown_by_hand_warns(ours):
    """A model that is given only new tokens cannot read the others again."""
    ids = drawn(2, TRAINED + 1)
    cache = ours(ids[:, :TRAINED], use_cache=True).cache
    with pytest.warns(UserWarning, match="embeddings=8 lies between the length of the text and the length"):
        ours(ids[:, TRAINED:], cache=cache)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache = ours(ids[:, :3], use_cache=True).cache
        ours(ids[:, 3:TRAINED], cache=cache)
        cache = ours(ids, use_cache=True).cache
        ours(ids, cache=cache)
        for strategy in (Greedy(), Beam(2), Speculative(ours, 3)):
            tfkit.generate(ours, ids[:, :5], strategy, end_id=-1, max_new_tokens=9)
