"""LLaDA: Llama that sees both sides. transformers has no class of it, so it is held to transformers' Llama with a mask
that hides nothing."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import load_file

import tfkit
from tests.models.table import ROWS, drawn
from tests.models.test_laws import make
from tests.models.test_llama_family import DoubleRotary
from tfkit.objectives.chunked_cross_entropy import chunked_logits
from tfkit.objectives.masked_diffusion import MaskedDiffusion

hf = pytest.importorskip("transformers")
OF_LLAMA = {
    "wte": "model.embed_tokens", "blocks.{}.attn_norm": "model.layers.{}.input_layernorm",
    **{f"blocks.{{}}.{x}_proj": f"model.layers.{{}}.self_attn.{x}_proj" for x in "qkv"},
    "blocks.{}.attn_out": "model.layers.{}.self_attn.o_proj",
    "blocks.{}.ff_norm": "model.layers.{}.post_attention_layernorm",
    "blocks.{}.ff_proj": "model.layers.{}.mlp.gate_proj", "blocks.{}.up_proj": "model.layers.{}.mlp.up_proj",
    "blocks.{}.ff_out": "model.layers.{}.mlp.down_proj", "ln_f": "model.norm", "ff_out": "lm_head",
}  # fmt: skip


def named(weights):
    """The tensors of a LLaDA file under the names that transformers' Llama has for them."""
    found = {}
    for name, tensor in weights.items():
        stem = name.removeprefix("model.transformer.").removesuffix(".weight").removesuffix(".bias")
        number = next((part for part in stem.split(".") if part.isdigit()), "")
        end = name[len("model.transformer.") + len(stem) :]
        found[OF_LLAMA[stem.replace(number, "{}") if number else stem].format(number) + end] = tensor
    return found


@pytest.mark.parametrize("changes", [
    {}, {"n_kv_heads": 2, "d_head": 6, "attn_bias": True, "rope_theta": 300.0, "eps": 1e-3},
], ids=["plain", "odd"])  # fmt: skip
def test_it_is_llama_without_a_mask_in_float64(changes, parity, tmp_path, monkeypatch):
    """Logits, also beside padding, and gradients; the weights go through a file under LLaDA's names."""
    monkeypatch.setattr("transformers.models.llama.modeling_llama.torch", parity.Double())
    ours = make("llada", dtype=torch.float32, **{"n_layers": 3, "n_kv_heads": 4, **changes})[1]
    c = ours.config
    ours.save_pretrained(tmp_path)
    theirs = hf.LlamaForCausalLM(hf.LlamaConfig(
        vocab_size=c.vocab_size, hidden_size=c.d_model, num_hidden_layers=3, num_attention_heads=c.n_heads,
        num_key_value_heads=c.n_kv_heads, head_dim=c.d_head, intermediate_size=c.d_ff, rms_norm_eps=c.eps,
        attention_bias=c.attn_bias, pad_token_id=None,
        rope_parameters={"rope_type": "default", "rope_theta": c.rope_theta},
    )).eval()  # fmt: skip
    theirs.load_state_dict(named(load_file(tmp_path / "model.safetensors")))
    theirs, ours = parity.calling_double(theirs.double()), tfkit.from_pretrained(tmp_path).double()
    theirs.model.rotary_emb = DoubleRotary(theirs.config)
    ids, mask = drawn(3, 9), (torch.arange(9) < torch.tensor([[9], [5], [7]])).long()
    seen = torch.zeros(3, 1, 9, 9, dtype=torch.float64).masked_fill(mask[:, None, None] == 0, -1e30)
    expected, out = theirs(ids, attention_mask=seen).logits[mask == 1], ours(ids, mask).logits[mask == 1]
    torch.testing.assert_close(out, expected, rtol=1e-9, atol=1e-9)
    (expected.square().sum()).backward(), (out.square().sum()).backward()
    wanted = {name: p.grad for name, p in theirs.named_parameters()}
    grads = named(ours.names.dump({n: p.grad for n, p in ours.named_parameters()}, with_head=True))
    assert grads.keys() == wanted.keys()
    for name, grad in wanted.items():
        torch.testing.assert_close(grads[name], grad, rtol=1e-9, atol=1e-8)


@torch.no_grad()
def test_the_published_configuration_is_understood(tmp_path):
    """That of the 8 billion, with small sizes; the table may have more rows than the vocabulary."""
    described = {
        "activation_type": "silu", "alibi": False, "alibi_bias_max": 8.0, "architectures": ["LLaDAModelLM"],
        "attention_dropout": 0.0, "attention_layer_norm": False, "attention_layer_norm_with_affine": True,
        "auto_map": {"AutoModel": "modeling_llada.LLaDAModelLM"}, "bias_for_layer_norm": False, "block_group_size": 1,
        "block_type": "llama", "d_model": 16, "embedding_dropout": 0.0, "embedding_size": 44, "eos_token_id": 1,
        "flash_attention": False, "include_bias": False, "include_qkv_bias": False, "init_cutoff_factor": None,
        "init_device": "meta", "init_fn": "mitchell", "init_std": 0.02, "input_emb_norm": False,
        "layer_norm_type": "rms", "layer_norm_with_affine": True, "mask_token_id": 2, "max_sequence_length": 24,
        "mlp_hidden_size": 24, "mlp_ratio": 4, "model_type": "llada", "multi_query_attention": None, "n_heads": 4,
        "n_kv_heads": 4, "n_layers": 2, "pad_token_id": 1, "precision": "amp_bf16", "residual_dropout": 0.0,
        "rms_norm_eps": 1e-05, "rope": True, "rope_full_precision": True, "rope_theta": 500000.0, "scale_logits": False,
        "use_cache": False, "vocab_size": 41, "weight_tying": False,
    }  # fmt: skip
    model = make("llada", dtype=torch.float32, vocab_size=44, n_kv_heads=4)[1]
    model.save_pretrained(tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    assert written["architectures"] == ["LLaDAModelLM"] and written["embedding_size"] == 44
    (tmp_path / "config.json").write_text(json.dumps(described))
    again = tfkit.from_pretrained(tmp_path)
    assert (again.head, again.config.vocab_size, again.config.mask_token_id) == ("masked_lm", 44, 2)
    (tmp_path / "config.json").write_text(json.dumps({**described, "alibi": True}))
    with pytest.raises(ValueError, match="alibi is True; only False is implemented"):
        tfkit.from_pretrained(tmp_path)


@pytest.mark.parametrize(("changes", "message"), [
    ({"mask_token_id": 41}, "mask_token_id=41: ids go from 0 to 40"),
])  # fmt: skip
def test_settings_that_do_not_fit_are_named(changes, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        tfkit.from_config("llada", **{**ROWS["llada"].fields, **changes})


@torch.no_grad()
def test_the_weighted_loss_is_the_same_in_chunks_and_refuses_other_shapes():
    model = make("llada")[1]
    given = MaskedDiffusion(2)({"input_ids": drawn(3, 9)}, torch.Generator().manual_seed(0))
    loss = model(**given).loss
    log_p = model(given["input_ids"]).logits.log_softmax(-1)
    labels, weights = given["labels"], given["loss_weights"].double()
    expected = -(log_p.gather(-1, labels.clamp(min=0)[..., None]).squeeze(-1) * weights)[labels != -100].sum()
    torch.testing.assert_close(loss, expected)
    with chunked_logits(2):
        torch.testing.assert_close(model(**given).loss, expected)
    with pytest.raises(ValueError, match=r"loss_weights has shape \[2\], labels has \[3, 9\]"):
        model(given["input_ids"], labels=labels, loss_weights=torch.ones(2))


def test_trained_on_counting_it_fills_in_whatever_is_missing():
    """Texts that count from a random number; a hole is filled in from one number that is left, on either side."""
    model = tfkit.from_config("llada", "masked_lm", vocab_size=20, d_model=32, n_layers=2, n_heads=2, n_kv_heads=2,
                              d_ff=64, mask_token_id=0, pad_token_id=None)  # fmt: skip
    objective, draw = MaskedDiffusion(0), torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(150):
        first = torch.randint(1, 12, (32, 1), generator=draw)
        loss = model(**objective({"input_ids": first + torch.arange(8)}, draw)).loss
        optimizer.zero_grad(), loss.backward(), optimizer.step()
    texts = torch.arange(2, 10) + torch.arange(4)[:, None]
    holes = torch.zeros_like(texts)
    holes[range(4), [0, 7, 3, 5]] = texts[range(4), [0, 7, 3, 5]]
    assert tfkit.decode.unmask(model, holes).tolist() == texts.tolist()
