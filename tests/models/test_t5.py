"""T5 is the published T5: same numbers, same gradients, same files, same sizes."""

import json

import pytest
import torch

import tfkit
from tfkit.nn import StaticCache

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 99, "d_model": 32, "d_kv": 6, "d_ff": 48, "num_layers": 2, "num_heads": 3}
SIZES |= {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 9, "decoder_start_token_id": 0}
GATED = {"feed_forward_proj": "gated-gelu", "num_decoder_layers": 3}


@pytest.fixture
def theirs(parity, request):
    return parity.shake(hf.T5ForConditionalGeneration(hf.T5Config(**SIZES | getattr(request, "param", {}))))


@pytest.fixture
def ours(parity, theirs, tmp_path):
    return parity.read(theirs, tmp_path)


CONFIGS = [{}, GATED, {"tie_word_embeddings": False}]


@pytest.mark.parametrize("theirs", CONFIGS, indirect=True, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(parity, theirs, ours, dtype, monkeypatch):
    if dtype == torch.float64:
        monkeypatch.setattr("transformers.models.t5.modeling_t5.torch", parity.Double())
    parity.assert_same_seq2seq("t5", theirs, ours, dtype)


@pytest.mark.parametrize("theirs", CONFIGS, indirect=True, ids=str)
def test_their_library_reads_our_files(parity, theirs, ours, tmp_path):
    parity.assert_same_files(theirs, ours, tmp_path / "ours")


def test_an_output_of_its_own(parity, tmp_path):
    """As version 1.1 is published: config.json says that nothing is tied, and the file has the matrix."""
    ours = tfkit.from_config("t5", "seq2seq_lm", vocab_size=99, d_model=32, d_ff=48, n_heads=3, d_kv=6,
                             n_layers=2, activation="gated-gelu", tie_word_embeddings=False)  # fmt: skip
    parity.shake(ours).save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["scale_decoder_outputs"] is False
    theirs = hf.T5ForConditionalGeneration.from_pretrained(tmp_path).eval()
    again = tfkit.from_pretrained(tmp_path)
    assert torch.equal(again.lm_head.weight, ours.lm_head.weight)
    ids, mask, labels = parity.ragged()
    with torch.no_grad():
        expected, out = (m(ids, attention_mask=mask, labels=labels) for m in (theirs, again))
    torch.testing.assert_close(out.logits[mask == 1], expected.logits[mask == 1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make_cache", [lambda: None, lambda: StaticCache(16)], ids=["growing", "static"])
def test_cache_equals_no_cache(parity, ours, make_cache):
    ids, mask, _ = parity.ragged(seed=5)
    parity.assert_same_with_cache(ours, make_cache, input_ids=ids, attention_mask=mask)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("t5-small", 60_506_624),
        ("t5-base", 222_903_552),
        ("t5-large", 737_668_096),
        ("t5-3b", 2_851_598_336),
        ("t5-11b", 11_307_321_344),
        ("t5-v1_1-small", 76_961_152),
        ("t5-v1_1-base", 247_577_856),
        ("t5-v1_1-large", 783_150_080),
    ],
)
def test_published_sizes(parity, name, count):
    assert parity.count(name, "seq2seq_lm") == count


def test_greedy_gives_their_ids(parity, theirs, tmp_path):
    theirs.decoder.final_layer_norm.weight.data *= torch.randn(32)  # or it would repeat what it read, tied as it is
    parity.assert_same_greedy(theirs, parity.read(theirs, tmp_path))


def test_bfloat16_is_finite(parity, ours):
    parity.assert_bfloat16_is_finite(ours)
