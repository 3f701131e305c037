"""Mamba-2 is the published one: numbers, gradients, files, generated ids; and its scan is the recurrence."""

from __future__ import annotations

import json

import pytest
import torch

import tfkit
from tfkit.decode import Beam
from tfkit.nn.state_space import state_space_scan

hf = pytest.importorskip("transformers")
SIZES = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 3, "num_heads": 8, "head_dim": 8, "state_size": 6,
    "n_groups": 2, "chunk_size": 4, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
CASES = {
    "plain": {},
    "odd": {"conv_kernel": 3, "use_bias": True, "use_conv_bias": False, "n_groups": 8, "num_heads": 16, "head_dim": 4,
            "chunk_size": 256},
    "tied, limited": {"tie_word_embeddings": True, "time_step_limit": (0.5, 0.9), "residual_in_fp32": False},
}  # fmt: skip


def made(parity, case):
    return parity.shake(hf.Mamba2ForCausalLM(hf.Mamba2Config(**{**SIZES, **CASES[case]})))


@pytest.mark.parametrize("case", CASES)
def test_numbers_and_gradients(parity, case, tmp_path):
    theirs = made(parity, case)
    parity.assert_same_causal("mamba2", theirs, parity.read(theirs, tmp_path), torch.float32)


@pytest.mark.parametrize("case", CASES)
def test_numbers_and_gradients_in_float64(parity, case, tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.models.mamba2.modeling_mamba2.torch", parity.Double())
    theirs = parity.calling_double(parity.of_float32(made(parity, case)))
    parity.assert_same_causal("mamba2", theirs, parity.read(theirs, tmp_path), torch.float64)


@pytest.mark.parametrize("case", CASES)
def test_their_library_reads_our_files(parity, case, tmp_path):
    theirs = made(parity, case)
    ours = parity.read(theirs, tmp_path / "theirs")
    parity.assert_same_files(theirs, ours, tmp_path / "ours")
    assert tfkit.from_pretrained(tmp_path / "ours").config == ours.config


@pytest.mark.parametrize("case", ["plain", "odd"])
@torch.no_grad()
def test_generated_ids(parity, case, tmp_path):
    """transformers does not keep to time_step_limit while it decodes, so the case with one is left out."""
    theirs = made(parity, case)
    ours = parity.read(theirs, tmp_path)
    prompts = torch.randint(3, 99, (3, 6), generator=torch.Generator().manual_seed(4))
    mask = (torch.arange(6) >= torch.tensor([[0], [2], [1]])).long()
    prompts = prompts.masked_fill(mask == 0, 0)
    expected = theirs.generate(prompts, attention_mask=mask, max_new_tokens=7, do_sample=False)
    assert tfkit.generate(ours, prompts, attention_mask=mask, max_new_tokens=7).tolist() == expected.tolist()
    expected = theirs.generate(prompts[:1], max_new_tokens=7, num_beams=3, do_sample=False)
    assert tfkit.generate(ours, prompts[:1], Beam(3), max_new_tokens=7).tolist() == expected.tolist()


@torch.no_grad()
def test_a_limit_of_steps_holds_while_decoding_too(parity, tmp_path):
    ours = parity.read(made(parity, "tied, limited"), tmp_path)
    parity.assert_same_with_cache(ours)


@torch.no_grad()
def test_files_of_4_x_say_the_same_in_other_words(parity, tmp_path):
    ours = parity.read(made(parity, "plain"), tmp_path)
    described = json.loads((tmp_path / "config.json").read_text())
    described["time_step_limit"] = [0.0, float("inf")]
    (tmp_path / "config.json").write_text(json.dumps(described))
    ids, mask, _ = parity.ragged()
    assert torch.equal(tfkit.from_pretrained(tmp_path)(ids, mask).logits, ours(ids, mask).logits)


@pytest.mark.parametrize("chunk", [1, 3, 7, 64])
def test_the_scan_is_the_recurrence(chunk):
    draw = torch.Generator().manual_seed(0)
    x, b, c = (torch.randn(2, 7, 3, width, generator=draw).double() for width in (4, 5, 5))
    fade = -torch.rand(2, 7, 3, generator=draw).double()
    state = torch.randn(2, 3, 4, 5, generator=draw).double()
    out, last = state_space_scan(x, fade, b, c, state, chunk)
    for t in range(7):
        state = fade[:, t, :, None, None].exp() * state + x[:, t, ..., None] * b[:, t, :, None]
        torch.testing.assert_close(out[:, t], (state @ c[:, t, ..., None]).squeeze(-1))
    torch.testing.assert_close(last, state)


@pytest.mark.parametrize(("changes", "message"), [
    ({"n_heads": 3}, "n_heads · d_head is 24, expand · d_model is 32: must be equal"),
    ({"n_groups": 3}, "n_groups=3 does not divide n_heads=4"),
])  # fmt: skip
def test_sizes_that_do_not_fit_are_named(changes, message):
    fields = {"vocab_size": 9, "d_model": 16, "n_layers": 1, "n_heads": 4, "d_head": 8, "n_groups": 2, **changes}
    with pytest.raises(ValueError, match=message):
        tfkit.from_config("mamba2", **fields)


@torch.no_grad()
def test_its_cache_is_of_fixed_size_anyway_and_keeps_only_the_latest_inputs(parity, tmp_path):
    ours = parity.read(made(parity, "plain"), tmp_path)
    ids, mask = torch.randint(3, 99, (2, 9)), torch.ones(2, 9, dtype=torch.long)
    mask[1, :4] = 0
    how = {"attention_mask": mask, "max_new_tokens": 7, "end_id": -1}
    plain = tfkit.generate(ours, ids, **how)
    assert torch.equal(tfkit.generate(ours, ids, static_cache=True, **how), plain)
    cache = ours(ids, use_cache=True).cache
    assert cache.length == 9
    for inputs, _ in cache.states.values():
        assert inputs.untyped_storage().nbytes() == inputs.nbytes  # no view of those of the whole text


def test_a_cache_of_keys_is_refused():
    model = tfkit.from_config("mamba2", vocab_size=9, d_model=4, n_layers=1, n_heads=2, d_head=4, n_groups=1)
    with pytest.raises(TypeError, match="cache is a StaticCache: Mamba-2 has no keys, its cache is a StateCache"):
        model(torch.ones(1, 3, dtype=torch.long), cache=tfkit.nn.StaticCache(8))
