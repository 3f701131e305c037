"""BART is the published BART: same numbers, same gradients, same files, same sizes."""

import pytest
import torch

from tfkit.nn import StaticCache

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 99, "d_model": 32, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4}
SIZES |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 40, "decoder_ffn_dim": 48, "max_position_embeddings": 40}
SIZES["forced_eos_token_id"] = None


@pytest.fixture
def theirs(parity, request):
    config = hf.BartConfig(**SIZES | getattr(request, "param", {}))
    model = parity.shake(hf.BartForConditionalGeneration(config))
    torch.nn.init.normal_(model.final_logits_bias, std=0.1)
    return model


@pytest.fixture
def ours(parity, theirs, tmp_path):
    return parity.read(theirs, tmp_path)


@pytest.mark.parametrize(
    "theirs", [{}, {"scale_embedding": True, "activation_function": "relu"}], indirect=True, ids=str
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(parity, theirs, ours, dtype):
    parity.assert_same_seq2seq("bart", theirs, ours, dtype)


def test_their_library_reads_our_files(parity, theirs, ours, tmp_path):
    parity.assert_same_files(theirs, ours, tmp_path / "ours")


@pytest.mark.parametrize("make_cache", [lambda: None, lambda: StaticCache(16)], ids=["growing", "static"])
def test_cache_equals_no_cache(parity, ours, make_cache):
    ids, mask, _ = parity.ragged(seed=5)
    parity.assert_same_with_cache(ours, make_cache, input_ids=ids, attention_mask=mask)


@pytest.mark.parametrize(
    ("name", "count"), [("bart-base", 139_420_416), ("bart-large", 406_291_456), ("bart-large-cnn", 406_290_432)]
)
def test_published_sizes(parity, name, count):
    assert parity.count(name, "seq2seq_lm") == count


def test_too_long_is_an_error(ours):
    with pytest.raises(ValueError, match="input_ids reaches position 41, max_length is 40"):
        ours(torch.ones(1, 41, dtype=torch.int64), decoder_input_ids=torch.ones(1, 1, dtype=torch.int64))


def test_greedy_gives_their_ids(parity, theirs, tmp_path):
    theirs.model.decoder.embed_positions.weight.data *= 20  # so small a model would say one word for ever
    for layer in theirs.model.decoder.layers:
        layer.encoder_attn.v_proj.weight.data *= 10
    parity.assert_same_greedy(theirs, parity.read(theirs, tmp_path))


def test_bfloat16_is_finite(parity, ours):
    parity.assert_bfloat16_is_finite(ours)
