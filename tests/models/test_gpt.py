"""GPT is the published GPT: same numbers, same gradients, same files, same size."""

import pytest
import torch

from tfkit.nn import StaticCache

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 99, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 40}


@pytest.fixture
def theirs(parity, request):
    return parity.shake(hf.OpenAIGPTLMHeadModel(hf.OpenAIGPTConfig(**SIZES | getattr(request, "param", {}))))


@pytest.fixture
def ours(parity, theirs, tmp_path):
    return parity.read(theirs, tmp_path)


@pytest.mark.parametrize("theirs", [{}, {"afn": "relu"}, {"n_head": 1, "afn": "swish"}], indirect=True, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(parity, theirs, ours, dtype):
    parity.same_causal("gpt", theirs, ours, dtype)


def test_their_library_reads_our_files(parity, theirs, ours, tmp_path):
    parity.same_files(theirs, ours, tmp_path / "ours")


@pytest.mark.parametrize("make_cache", [lambda: None, lambda: StaticCache(16)], ids=["growing", "static"])
def test_cache_equals_no_cache(parity, ours, make_cache):
    """Their library has no cache for this one at all."""
    parity.same_with_cache(ours, make_cache)


def test_published_size(parity):
    assert parity.count("openai-gpt", "causal_lm") == 116_534_784


def test_padding_and_future_change_nothing(parity, ours):
    parity.padding_and_future_change_nothing(ours)


def test_bfloat16_is_finite(parity, ours):
    parity.bfloat16_is_finite(ours)
