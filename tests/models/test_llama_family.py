"""Llama and its relatives are the published ones: same numbers, gradients, generated ids and files, in both layouts of
config.json."""

from __future__ import annotations

import json

import pytest
import torch

import tfkit
from tfkit import registry
from tfkit.decode import Beam
from tfkit.hub import published

hf = pytest.importorskip("transformers")
SIZES = {
    "vocab_size": 99, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 40, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
GEMMA = {"head_dim": 10, "sliding_window": 4, "query_pre_attn_scalar": 7}
LONG = {"rope_theta": 1e4, "rope_type": "longrope"}
LONG |= {"short_factor": [1.0, 1.1, 1.2, 1.3], "long_factor": [2.0, 3.0, 4.0, 5.0]}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 10, "rope_theta": 1e4}
ROPES = {
    "linear": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5e3},
    "dynamic": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 20, "rope_theta": 1e4},
    "yarn": YARN,
    "yarn with two scales": {**YARN, "mscale": 0.7, "mscale_all_dim": 1.1, "truncate": False, "beta_fast": 4},
    "longrope": {**LONG, "original_max_position_embeddings": 8, "factor": 5.0},
}  # fmt: skip
OSS = {"head_dim": 10, "sliding_window": 4, "num_local_experts": 5, "num_experts_per_tok": 2, "swiglu_limit": 0.3}
QWEN_MOE = {"head_dim": 10, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 12}
QWEN_NEXT = {
    **QWEN_MOE, "head_dim": 16, "full_attention_interval": 2, "linear_num_key_heads": 2, "linear_num_value_heads": 6,
    "linear_key_head_dim": 5, "linear_value_head_dim": 7, "shared_expert_intermediate_size": 9,
}  # fmt: skip
DEEPSEEK = {
    "kv_lora_rank": 12, "q_lora_rank": 16, "qk_rope_head_dim": 8, "v_head_dim": 10, "qk_nope_head_dim": 6,
    "moe_intermediate_size": 12, "n_routed_experts": 8, "n_group": 4, "topk_group": 2, "num_experts_per_tok": 3,
    "first_k_dense_replace": 1, "num_key_value_heads": 4,
}  # fmt: skip
OTHERS = {  # sizes under the names that other configurations have for them
    "bloom": {"n_layer": 3, "n_head": 4},
    "opt": {"ffn_dim": 48, "word_embed_proj_dim": 32, "dropout": 0.0},
}
CASES = {
    "llama": ("llama", "Llama", {}),
    "llama, odd": ("llama", "Llama", {"head_dim": 10, "attention_bias": True, "mlp_bias": True,
                                      "tie_word_embeddings": True}),
    **{f"llama, {kind}": ("llama", "Llama", {"rope_parameters": rope, "max_position_embeddings": 9})
       for kind, rope in ROPES.items()},
    "mistral": ("mistral", "Mistral", {"sliding_window": 4}),
    "mistral, no window": ("mistral", "Mistral", {"sliding_window": None, "head_dim": 10}),
    "mixtral": ("mixtral", "Mixtral", {"num_local_experts": 5, "output_router_logits": True,
                                       "router_aux_loss_coef": 0.5}),
    "deepseek_v3": ("deepseek_v3", "DeepseekV3", DEEPSEEK),
    "deepseek_v3, yarn": ("deepseek_v3", "DeepseekV3", {
        **DEEPSEEK, "rope_parameters": {**YARN, "mscale": 0.7, "mscale_all_dim": 1.1}, "max_position_embeddings": 40,
        "n_shared_experts": 2, "attention_bias": True, "rope_interleave": False}),
    "deepseek_v3, no latent of queries": ("deepseek_v3", "DeepseekV3", {
        **DEEPSEEK, "q_lora_rank": None, "n_group": 1, "topk_group": 1, "norm_topk_prob": False,
        "routed_scaling_factor": 1.7}),
    "gpt_oss": ("gpt_oss", "GptOss", {**OSS, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}),
    "gpt_oss, yarn": ("gpt_oss", "GptOss", {**OSS, "rope_parameters": {**YARN, "truncate": False},
                                            "layer_types": ["full_attention"] * 2 + ["sliding_attention"]}),
    "qwen2": ("qwen2", "Qwen2", {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}),
    "qwen2, tied": ("qwen2", "Qwen2", {"tie_word_embeddings": True}),
    "qwen3": ("qwen3", "Qwen3", {"head_dim": 10, "attention_bias": True}),
    "qwen3_moe": ("qwen3_moe", "Qwen3Moe", {**QWEN_MOE, "norm_topk_prob": True}),
    "qwen3_moe, odd": ("qwen3_moe", "Qwen3Moe", {
        **QWEN_MOE, "attention_bias": True, "mlp_only_layers": [2], "use_sliding_window": True, "sliding_window": 4,
        "rope_parameters": ROPES["yarn"], "tie_word_embeddings": True}),
    "qwen3_moe, every other layer": ("qwen3_moe", "Qwen3Moe", {
        **QWEN_MOE, "decoder_sparse_step": 2, "sliding_window": 4}),
    "qwen3_next": ("qwen3_next", "Qwen3Next", QWEN_NEXT),
    "qwen3_next, odd": ("qwen3_next", "Qwen3Next", {
        **QWEN_NEXT, "head_dim": 10, "layer_types": ["full_attention", "linear_attention", "linear_attention"],
        "linear_num_value_heads": 2, "linear_conv_kernel_dim": 3, "attention_bias": True, "mlp_only_layers": [2],
        "norm_topk_prob": False, "hidden_act": "gelu", "tie_word_embeddings": True,
        "rope_parameters": {**ROPES["yarn"], "partial_rotary_factor": 0.4}}),
    "qwen3_next, every other layer": ("qwen3_next", "Qwen3Next", {
        **QWEN_NEXT, "decoder_sparse_step": 2, "linear_conv_kernel_dim": 2, "linear_num_key_heads": 1,
        "linear_num_value_heads": 1, "linear_key_head_dim": 8}),
    "smollm3": ("smollm3", "SmolLM3", {"no_rope_layer_interval": 2}),
    "smollm3, odd": ("smollm3", "SmolLM3", {
        "no_rope_layers": [0, 1, 0], "use_sliding_window": True, "sliding_window": 4, "attention_bias": True,
        "mlp_bias": True, "tie_word_embeddings": False, "head_dim": 10}),
    "smollm3, windows by name": ("smollm3", "SmolLM3", {
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"], "sliding_window": 3,
        "rope_parameters": ROPES["yarn"]}),
    "olmo2": ("olmo2", "Olmo2", {}),
    "phi3": ("phi3", "Phi3", {"sliding_window": 4, "rope_parameters": {"partial_rotary_factor": 0.5, "rope_theta": 1e4,
                                                                       "rope_type": "default"}}),
    "phi3, long": ("phi3", "Phi3", {"original_max_position_embeddings": 5, "rope_parameters": LONG}),
    "gpt_neox": ("gpt_neox", "GPTNeoX", {"rotary_pct": 0.5}),
    "gpt_neox, one after the other": ("gpt_neox", "GPTNeoX", {"use_parallel_residual": False, "attention_bias": False}),
    "bloom": ("bloom", "Bloom", {}),
    "bloom, six heads": ("bloom", "Bloom", {"hidden_size": 36, "n_head": 6, "tie_word_embeddings": False,
                                            "apply_residual_connection_post_layernorm": True}),
    "opt": ("opt", "OPT", {}),
    "opt, narrow": ("opt", "OPT", {"word_embed_proj_dim": 16, "do_layer_norm_before": False}),
    "opt, plain": ("opt", "OPT", {"enable_bias": False, "_remove_final_layer_norm": True,
                                  "tie_word_embeddings": False}),
    "gemma2": ("gemma2", "Gemma2", {**GEMMA, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0}),
    "gemma3": ("gemma3", "Gemma3Text", {**GEMMA, "sliding_window_pattern": 2, "final_logit_softcapping": 3.0}),
}  # fmt: skip
# the others have the same layers with other positions, whose frequencies transformers computes in float32
IN_FLOAT64 = [case for case in CASES if "," not in case and case != "mixtral"]


def their_model(parity, case):
    name, theirs, more = CASES[case]
    described = getattr(hf, f"{theirs}Config")
    known = described().to_dict()
    sizes = {field: size for field, size in SIZES.items() if field in known}
    config = described(**{**sizes, **OTHERS.get(name, {}), **more})
    return name, parity.shake(getattr(hf, f"{theirs.removesuffix('Text')}ForCausalLM")(config))


class DoubleRotary(torch.nn.Module):
    """transformers' rotary positions in float64; its own are in float32, whatever the model's dtype."""

    def __init__(self, config):
        super().__init__()
        rope = config.rope_parameters
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.halved = config.model_type == "gpt_oss"
        width = int(width * rope.get("partial_rotary_factor", 1.0))
        self.frequencies = rope["rope_theta"] ** (-torch.arange(0, width, 2).double() / width)

    def forward(self, x, position_ids):
        angles = position_ids[..., None].double() * self.frequencies
        angles = angles if self.halved else torch.cat([angles, angles], -1)
        return angles.cos(), angles.sin()


@pytest.mark.parametrize("case", [case for case in CASES if case != "mixtral"])
def test_numbers_and_gradients_in_float32(parity, case, tmp_path):
    name, theirs = their_model(parity, case)
    parity.assert_same_causal(name, theirs, parity.read(theirs, tmp_path), torch.float32)


@pytest.mark.parametrize("case", IN_FLOAT64)
def test_numbers_and_gradients_in_float64(parity, case, tmp_path, monkeypatch):
    name = CASES[case][0]
    monkeypatch.setattr(f"transformers.models.{name}.modeling_{name}.torch", parity.Double())
    theirs = parity.calling_double(parity.of_float32(their_model(parity, case)[1]))
    ours = parity.read(theirs, tmp_path)
    theirs.config._experts_implementation = "eager"  # the grouped product of matrices knows no float64
    if "gemma" in name:  # sqrt(d_model), kept in float32
        scaled = theirs.get_input_embeddings()
        scaled.embed_scale = torch.tensor(scaled.scalar_embed_scale, dtype=torch.float64)
    if name not in ("bloom", "opt", "gemma3"):  # which has one for each kind of layer, made of float64 above
        getattr(theirs, theirs.base_model_prefix).rotary_emb = DoubleRotary(theirs.config)
    parity.assert_same_causal(name, theirs, ours, torch.float64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_mixtral_and_the_loss_that_balances_its_experts(parity, dtype, tmp_path, monkeypatch):
    """In memory they keep all experts of a layer in one tensor; so the gradients are held together by hand."""
    _, theirs = their_model(parity, "mixtral")
    ours = parity.read(theirs, tmp_path).to(dtype)
    if dtype == torch.float64:
        theirs.config._experts_implementation = "eager"
        monkeypatch.setattr("transformers.models.mixtral.modeling_mixtral.torch", parity.Double())
        theirs = parity.calling_double(theirs.to(dtype))
        theirs.model.rotary_emb = DoubleRotary(theirs.config)
    ids, mask, labels = parity.ragged()
    expected, out = theirs(ids, attention_mask=mask, labels=labels), ours(ids, mask, labels=labels)
    close = {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-8, "atol": 1e-9}
    torch.testing.assert_close(out.logits[mask == 1], expected.logits[mask == 1], **close)
    torch.testing.assert_close(out.aux_loss, expected.aux_loss, **close)
    torch.testing.assert_close(out.loss, expected.loss, **close)
    torch.testing.assert_close(torch.stack(out.router_logits), torch.stack(expected.router_logits), **close)
    expected.loss.backward(), out.loss.backward()
    for layer, their_layer in zip(ours.layers, theirs.model.layers, strict=True):
        experts = layer.ff.experts
        gate_up = torch.stack([torch.cat([e.gate.weight.grad, e.up.weight.grad]) for e in experts])
        torch.testing.assert_close(gate_up, their_layer.mlp.experts.gate_up_proj.grad, **close)
        down = torch.stack([e.down.weight.grad for e in experts])
        torch.testing.assert_close(down, their_layer.mlp.experts.down_proj.grad, **close)
        torch.testing.assert_close(layer.ff.router.weight.grad, their_layer.mlp.gate.weight.grad, **close)
        torch.testing.assert_close(layer.attn.k_proj.weight.grad, their_layer.self_attn.k_proj.weight.grad, **close)


@torch.no_grad()
def test_the_loss_that_balances_experts_which_some_layers_have(parity, tmp_path):
    _, theirs = their_model(parity, "qwen3_moe, every other layer")
    theirs.config.output_router_logits, theirs.router_aux_loss_coef = True, 0.5
    theirs.config.router_aux_loss_coef = 0.5
    ours = parity.read(theirs, tmp_path)
    ids, mask, labels = parity.ragged()
    expected, out = theirs(ids, attention_mask=mask, labels=labels), ours(ids, mask, labels=labels)
    assert len(out.router_logits) == len(expected.router_logits) == 1
    torch.testing.assert_close(out.aux_loss, expected.aux_loss, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(out.loss, expected.loss, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "case",
    [
        "llama",
        "qwen2, tied",
        "gemma2",
        "gemma3",
        "phi3",
        "mixtral",
        "llama, llama3",
        "gpt_oss",
        "deepseek_v3, yarn",
        "qwen3_moe, odd",
        "qwen3_next",
        "qwen3_next, odd",
    ],
)
def test_their_library_reads_our_files(parity, case, tmp_path):
    _, theirs = their_model(parity, case)
    ours = parity.read(theirs, tmp_path / "theirs")
    parity.assert_same_files(theirs, ours, tmp_path / "ours")


@pytest.mark.parametrize("case", [case for case in CASES if case != "llama, dynamic"])
@torch.no_grad()
def test_generated_ids(parity, case, tmp_path):
    """Greedy from prompts of unequal length, and beam search, with tfkit's cache and transformers'."""
    _, theirs = their_model(parity, case)
    ours = parity.read(theirs, tmp_path)
    theirs.config.output_router_logits = False  # with a mask and a cache, transformers stops
    prompts = torch.randint(3, 99, (3, 6), generator=torch.Generator().manual_seed(4))
    mask = (torch.arange(6) >= torch.tensor([[0], [2], [1]])).long()
    prompts = prompts.masked_fill(mask == 0, 0)
    how = {"attention_mask": mask, "max_new_tokens": 7, "do_sample": False}
    expected = theirs.generate(prompts, **how)
    found = tfkit.generate(ours, prompts, attention_mask=mask, max_new_tokens=7)
    assert found.tolist() == expected.tolist()
    expected = theirs.generate(prompts[:1], max_new_tokens=7, num_beams=3, do_sample=False)
    found = tfkit.generate(ours, prompts[:1], Beam(3), max_new_tokens=7)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("case", ["llama, yarn", "gemma3", "phi3, long", "llama", "gpt_oss, yarn", "deepseek_v3, yarn"])
@torch.no_grad()
def test_files_of_4_x_say_the_same_in_other_words(parity, case, tmp_path):
    _, theirs = their_model(parity, case)
    ours = parity.read(theirs, tmp_path)
    described = json.loads((tmp_path / "config.json").read_text())
    rope = described.pop("rope_parameters")
    if "full_attention" in rope:
        described["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        described.pop("layer_types"), described.pop("_sliding_window_pattern", None)
        rope = rope["full_attention"]
    described["rope_theta"] = rope.pop("rope_theta")
    described |= {"partial_rotary_factor": rope.pop("partial_rotary_factor")} if "partial_rotary_factor" in rope else {}
    kind = rope.pop("rope_type")
    described["rope_scaling"] = None if kind == "default" else {"type": "su" if kind == "longrope" else kind, **rope}
    (tmp_path / "config.json").write_text(json.dumps(described))
    ids, mask, _ = parity.ragged()
    assert torch.equal(tfkit.from_pretrained(tmp_path)(ids, mask).logits, ours(ids, mask).logits)


@pytest.mark.parametrize(("fields", "window"), [
    ({"use_sliding_window": True}, 4096), ({"use_sliding_window": True, "sliding_window": None}, None),
    ({"use_sliding_window": True, "sliding_window": 8}, 8), ({"sliding_window": 8}, None), ({}, None),
])  # fmt: skip
def test_a_qwen3_moe_that_switches_windows_on_has_theirs(fields, window):
    assert hf.Qwen3MoeConfig(**fields).sliding_window == window
    settings, _ = published.read(registry.load("qwen3_moe"), dict(fields))
    assert registry.load("qwen3_moe").Config(**settings).window == window


@pytest.mark.parametrize(("changes", "message"), [
    ({"n_kv_heads": 3}, "n_kv_heads=3 does not divide n_heads=32"),
    ({"n_heads": 3, "n_kv_heads": 3}, "n_heads=3 does not divide d_model=4096"),
])  # fmt: skip
def test_sizes_that_do_not_fit_are_named(changes, message):
    with pytest.raises(ValueError, match=message), torch.device("meta"):
        tfkit.from_config("llama", n_layers=1, **changes)


@pytest.mark.parametrize(("scaling", "message"), [
    ({"rope_type": "spiral"}, "rope_type is 'spiral'; available: default, linear"),
    ({"rope_type": "linear"}, "rope_type 'linear' needs 'factor'"),
])  # fmt: skip
def test_rotary_settings_that_do_not_fit_are_named(scaling, message):
    model = tfkit.from_config("llama", vocab_size=9, d_model=8, n_layers=1, n_heads=2, d_ff=8, rope_scaling=scaling)
    with pytest.raises(ValueError, match=message):
        model(torch.ones(1, 3, dtype=torch.long))
