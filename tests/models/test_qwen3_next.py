"""Qwen3-Next, beside what test_llama_family.py compares: texts of several chunks, caches, and what is refused."""

from __future__ import annotations

import json

import pytest
import torch

import tfkit
from tests.models.table import ROWS, drawn
from tests.models.test_laws import make
from tests.models.test_llama_family import DoubleRotary, their_model
from tfkit.decode import Beam, Greedy, Speculative
from tfkit.nn import Cache, StaticCache

hf = pytest.importorskip("transformers")
LINEAR, FULL = "linear_attention", "full_attention"


@torch.no_grad()
def test_texts_of_several_chunks_in_float64(parity, tmp_path, monkeypatch):
    """One chunk has 64 tokens; the rest is the next chunk's, alone or after a cache that ends within a chunk."""
    monkeypatch.setattr("transformers.models.qwen3_next.modeling_qwen3_next.torch", parity.Double())
    theirs = parity.calling_double(parity.of_float32(their_model(parity, "qwen3_next")[1]))
    ours = parity.read(theirs, tmp_path).double()
    theirs.config._experts_implementation = "eager"
    theirs.model.rotary_emb = DoubleRotary(theirs.config)
    ids = torch.randint(3, 99, (2, 150), generator=torch.Generator().manual_seed(2))
    expected = theirs.double()(ids).logits
    torch.testing.assert_close(ours(ids).logits, expected, rtol=1e-9, atol=1e-9)
    cache = ours(ids[:, :70], use_cache=True).cache
    torch.testing.assert_close(ours(ids[:, 70:], cache=cache).logits, expected[:, 70:], rtol=1e-9, atol=1e-9)


@torch.no_grad()
def test_padding_on_the_left_is_transformers(parity, tmp_path):
    """States and logits, of a prompt and of the tokens after it."""
    _, theirs = their_model(parity, "qwen3_next")
    ours = parity.read(theirs, tmp_path)
    ids = torch.randint(3, 99, (2, 9), generator=torch.Generator().manual_seed(2))
    mask = torch.ones_like(ids)
    mask[1, :4] = 0
    cache, past = None, None
    for at in (slice(0, 6), slice(6, 7), slice(7, 9)):
        given = {"attention_mask": mask[:, : at.stop], "use_cache": True}
        out, expected = ours(ids[:, at], cache=cache, **given), theirs(ids[:, at], past_key_values=past, **given)
        cache, past = out.cache, expected.past_key_values
        real = mask[:, at] == 1
        torch.testing.assert_close(out.logits[real], expected.logits[real], rtol=1e-4, atol=1e-5)
    inputs, state = cache.recurrent.states[ours.layers[0].attn]
    torch.testing.assert_close(state, past.layers[0].recurrent_states[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(inputs, past.layers[0].conv_states[0][..., 1:], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kinds", [(LINEAR, FULL), (FULL, LINEAR), (LINEAR, LINEAR), (FULL, FULL)])
@torch.no_grad()
def test_caches_that_grow_and_fixed_ones_go_on_alike(kinds):
    """With layers of one kind too, from prompts that are padded on the left, and in a beam."""
    row, model = make("qwen3_next", layer_types=kinds)
    prompts = row.prompts(model, drawn(3, 6))
    how = {**prompts, "max_new_tokens": 5, "end_id": -1}
    alone = tfkit.generate(model, drawn(3, 6)[1:2, 2:], max_new_tokens=5, end_id=-1)
    for strategy in (Greedy(), Beam(2)):
        expected = tfkit.generate(model, strategy=strategy, **how)
        assert torch.equal(tfkit.generate(model, strategy=strategy, static_cache=True, **how), expected)
        if strategy == Greedy():
            assert torch.equal(expected[1:2, 2:], alone)
    ids = drawn(2, 6)
    cache = model(ids, use_cache=True).cache
    assert cache.length == 6
    fixed = model(ids, cache=model.fixed_cache(8, None)).cache
    found = [model(drawn(2, 1, seed=4), cache=one).logits for one in (cache, fixed)]
    torch.testing.assert_close(*found)


@torch.no_grad()
def test_only_layers_with_attention_have_a_cache_that_grows():
    _, model = make("qwen3_next")
    cache = model(drawn(2, 9), use_cache=True).cache
    assert set(cache.self_attention) == {model.layers[1].attn}
    assert set(cache.recurrent.states) == {model.layers[0].attn}
    for inputs, state in cache.recurrent.states.values():
        assert inputs.shape == (2, 2 * 2 * 5 + 4 * 6, 3) and state.shape == (2, 4, 5, 6)
        assert inputs.untyped_storage().nbytes() == inputs.nbytes  # no view of those of the whole text


@torch.no_grad()
def test_a_state_forgets_nothing_so_a_draft_cannot_be_taken_back():
    row, model = make("qwen3_next")
    draft = make("qwen3_next", n_layers=1)[1]
    with pytest.raises(TypeError, match="the cache keeps a state that cannot forget its last 2 tokens"):
        model(drawn(1, 6), use_cache=True).cache.crop(4)
    with pytest.raises(TypeError, match="cannot forget"):
        for seed in range(5):  # until one is rejected
            tfkit.generate(model, drawn(1, 5, seed=seed), Speculative(draft), max_new_tokens=9, end_id=-1)


@pytest.mark.parametrize("make_cache", [Cache, lambda: StaticCache(8)])
def test_a_cache_without_room_for_states_is_refused(make_cache):
    _, model = make("qwen3_next")
    with pytest.raises(TypeError, match=r"cache is a \w*Cache, which has no room for the states: leave it out"):
        model(drawn(1, 3), cache=make_cache())


@pytest.mark.parametrize(("changes", "message"), [
    ({"n_key_heads": 3}, "n_key_heads=3 does not divide n_value_heads=4"),
    ({"n_key_heads": 0}, "n_key_heads=0: must be a whole number, at least 1"),
    ({"attention_interval": 0}, "attention_interval=0: must be a whole number, at least 1"),
    ({"expert_interval": 0}, "expert_interval=0: must be a whole number, at least 1"),
    ({"kernel": 0}, "kernel=0: must be a whole number, at least 1"),
    ({"experts_per_token": 5}, "each token takes 5 experts, but there are only 4"),
    ({"layer_types": (FULL,)}, "layer_types names 1 layers; n_layers is 2"),
    ({"layer_types": (FULL, "sliding_attention")},
     "layer_types has 'sliding_attention'; each must be 'full_attention' or 'linear_attention'"),
])  # fmt: skip
def test_settings_that_do_not_fit_are_named(changes, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        tfkit.from_config("qwen3_next", **{**ROWS["qwen3_next"].fields, **changes})


@torch.no_grad()
def test_the_published_file_says_it_in_older_words_and_has_layers_that_are_not_built(parity, tmp_path):
    """4.x: the rotary settings beside the others, how many layers apart attention is, and the layers that predict the
    token after the next."""
    from safetensors.torch import load_file, save_file

    _, theirs = their_model(parity, "qwen3_next")
    ours = parity.read(theirs, tmp_path)
    described = json.loads((tmp_path / "config.json").read_text())
    rope = described.pop("rope_parameters")
    described |= {"rope_theta": rope["rope_theta"], "partial_rotary_factor": rope["partial_rotary_factor"]}
    described |= {"rope_scaling": None, "full_attention_interval": 2, "use_sliding_window": False}
    del described["layer_types"]
    (tmp_path / "config.json").write_text(json.dumps(described))
    file = tmp_path / "model.safetensors"
    later = {name: torch.ones(2, 2) for name in ("mtp.fc.weight", "mtp.layers.0.mlp.gate.weight")}
    save_file({**load_file(file), **later}, file)
    again = tfkit.from_pretrained(tmp_path)
    ids, mask, _ = parity.ragged()
    assert torch.equal(again(ids, mask).logits, ours(ids, mask).logits)
    assert again.layer_types() == [LINEAR, FULL, LINEAR] and again.config.rotary_fraction == 0.25


@torch.no_grad()
def test_the_loss_that_balances_experts(parity, tmp_path):
    _, theirs = their_model(parity, "qwen3_next, every other layer")
    theirs.config.output_router_logits, theirs.router_aux_loss_coef = True, 0.5
    theirs.config.router_aux_loss_coef = 0.5
    ours = parity.read(theirs, tmp_path)
    ids, mask, labels = parity.ragged()
    expected, out = theirs(ids, attention_mask=mask, labels=labels), ours(ids, mask, labels=labels)
    assert len(out.router_logits) == len(expected.router_logits) == 1
    torch.testing.assert_close(out.aux_loss, expected.aux_loss, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(out.loss, expected.loss, rtol=1e-4, atol=1e-5)
