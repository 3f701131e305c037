"""LoRA on whole models: what learns, that merging changes no answer, and files that PEFT's rules read."""

from __future__ import annotations

import json

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import tfkit
from tests.models.table import ROWS, drawn
from tfkit.adapters import AdaptedLinear, select_layers

BOXED = {"encoder_decoder", "rag", "mmbt", "transformer_xl", "vit"}


def built(name, head="causal_lm", **changes):
    torch.manual_seed(0)
    return tfkit.from_config(name.removesuffix("-causal"), head=head, **{**ROWS[name].fields, **changes}).eval()


def drawn_adapter(adapter):
    """Adapters as after training: their second matrix is not zero."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for layer in adapter.layers.values():
            layer.b.copy_(torch.randn(layer.b.shape, generator=generator))
    return adapter


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [name for name in ROWS if name not in BOXED])
def test_in_every_architecture(name, tmp_path):
    """Equal to the base at first, an effect later; merged, unmerged, saved and loaded again, and taken off."""
    model, row, ids = built(name, ROWS[name].head), ROWS[name], drawn(2, ROWS[name].length)
    with torch.no_grad():
        base = row.read(model, ids)
        adapter = tfkit.lora(model, 2, alpha=3, targets=("ff.up", "ff.down") if name == "xlnet" else "all-linear")
        torch.testing.assert_close(row.read(model, ids), base, rtol=1e-6, atol=1e-7)
        adapted = row.read(model, ids) if drawn_adapter(adapter) else base
        assert not torch.allclose(adapted, base, atol=1e-3)
        adapter.merge()
        assert not any(isinstance(module, AdaptedLinear) for module in model.modules())
        torch.testing.assert_close(row.read(model, ids), adapted, rtol=1e-3, atol=1e-4)
        adapter.unmerge()
        torch.testing.assert_close(row.read(model, ids), adapted, rtol=1e-6, atol=1e-7)
        adapter.save_pretrained(tmp_path)
        adapter.remove()
        torch.testing.assert_close(row.read(model, ids), base, rtol=1e-6, atol=1e-7)
        again = tfkit.load_adapter(model, tmp_path)
        torch.testing.assert_close(row.read(model, ids), adapted, rtol=1e-3, atol=1e-4)
    assert {path for path, layer in again.layers.items() if layer.b.any()} == set(adapter.layers)


def test_only_the_adapter_learns_and_no_base_weight_moves():
    model, ids = built("llama"), drawn(2, 8)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    adapter = tfkit.lora(model, 2)
    learning = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert learning == {f"{path}.{part}" for path in adapter.layers for part in "ab"}
    assert model.num_parameters(only_trainable=True) == sum(weight.numel() for weight in adapter.parameters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    losses = []
    for _ in range(8):
        losses.append(model(ids, labels=ids).loss)
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < losses[0] - 0.1
    adapter.remove()
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert all(weight.requires_grad for weight in model.parameters())


THEIRS = {  # architecture and head -> transformers' class
    ("gpt2", "causal_lm"): "GPT2LMHeadModel",
    ("llama", "causal_lm"): "LlamaForCausalLM",
    ("gpt_neox", "causal_lm"): "GPTNeoXForCausalLM",
    ("phi3", "causal_lm"): "Phi3ForCausalLM",
    ("bert", "masked_lm"): "BertForMaskedLM",
    ("bart", "seq2seq_lm"): "BartForConditionalGeneration",
    ("t5", "seq2seq_lm"): "T5ForConditionalGeneration",
}


@torch.no_grad()
def applied(theirs, directory):
    """transformers' model with the adapter of a directory added to its weights by PEFT's rules: the module of a name
    gets scale · B A, transposed in a Conv1D."""
    config = json.loads((directory / "adapter_config.json").read_text())
    weights = load_file(directory / "adapter_model.safetensors")
    modules = {name.removesuffix(".lora_A.weight") for name in weights if name.endswith(".lora_A.weight")}
    for name in modules:
        module = name.removeprefix("base_model.model.")
        assert module in config["target_modules"]
        rank = config["rank_pattern"].get(module, config["r"])
        scale = config["alpha_pattern"].get(module, config["lora_alpha"]) / rank
        assert len(weights[f"{name}.lora_A.weight"]) == rank
        delta = scale * weights[f"{name}.lora_B.weight"] @ weights[f"{name}.lora_A.weight"]
        part = theirs.get_submodule(module)
        part.weight += delta.T if type(part).__name__ == "Conv1D" else delta
    return theirs


@pytest.mark.parametrize("targets", ["all-linear", ("q_proj", "v_proj", "qkv_proj")], ids=["all", "some"])
@pytest.mark.parametrize(("name", "head"), THEIRS)
@torch.no_grad()
def test_transformers_computes_the_same_with_what_was_saved(name, head, targets, tmp_path):
    ours, row = built(name, head), ROWS[name]
    ours.save_pretrained(tmp_path / "model")
    theirs = getattr(transformers, THEIRS[name, head]).from_pretrained(tmp_path / "model").eval()
    if targets != "all-linear":
        targets = [
            target for target in targets if any(f".{path}".endswith(f".{target}") for path, _ in ours.named_modules())
        ]
    drawn_adapter(tfkit.lora(ours, 2, alpha=3, targets=targets)).save_pretrained(tmp_path / "adapter")
    given = row.inputs(ours, drawn(2, 7))
    found = ours(**given).logits
    assert not torch.allclose(theirs(**given).logits, found, atol=1e-2)
    applied(theirs, tmp_path / "adapter")
    torch.testing.assert_close(theirs(**given).logits, found, rtol=1e-3, atol=1e-3)


def peft_adapter(directory, module, rows, columns, prefix="base_model.model.", **config):
    """An adapter as PEFT writes it -> its product B A."""
    a, b = torch.randn(3, columns), torch.randn(rows, 3)
    directory.mkdir()
    save_file(
        {f"{prefix}{module}.lora_A.weight": a, f"{prefix}{module}.lora_B.weight": b},
        directory / "adapter_model.safetensors",
    )
    config = {"peft_type": "LORA", "r": 3, "lora_alpha": 6, "target_modules": [module], "bias": "none"} | config
    (directory / "adapter_config.json").write_text(json.dumps(config))
    return b @ a


@pytest.mark.parametrize("module", ["transformer.h.1.attn.c_attn", "h.1.attn.c_attn"])
@pytest.mark.parametrize(("rslora", "scale"), [(False, 2.0), (True, 6 / 3**0.5)])
@torch.no_grad()
def test_an_adapter_of_a_fused_matrix_is_read_and_written_back(module, rslora, scale, tmp_path):
    model = built("gpt2")
    width = model.config.d_model
    delta = peft_adapter(tmp_path / "a", module, 3 * width, width, use_rslora=rslora)
    names = [f"layers.1.attn.{letter}_proj" for letter in "qkv"]
    before = torch.cat([model.get_submodule(name).weight for name in names])
    adapter = tfkit.load_adapter(model, tmp_path / "a")
    assert list(adapter.layers) == names
    after = torch.cat([model.get_submodule(name).weight for name in names])
    torch.testing.assert_close(after, before + scale * delta)
    adapter.save_pretrained(tmp_path / "b")
    old, new = (load_file(tmp_path / side / "adapter_model.safetensors") for side in "ab")
    assert all(torch.equal(old[name], new[name.replace("model.h.", "model.transformer.h.")]) for name in old)


def test_targets_go_by_either_name():
    model = built("bert", "masked_lm")
    assert set(select_layers(model, "query")) == set(select_layers(model, "q_proj")) != set()
    assert set(select_layers(model, ["query", "ff.up"])) == set(select_layers(model, ("q_proj", "intermediate.dense")))
    assert set(select_layers(built("gpt2"), "c_attn")) == set(
        select_layers(built("gpt2"), ["q_proj", "k_proj", "v_proj"])
    )
    assert not any(path.startswith("task_head") for path in select_layers(model, "all-linear"))
    assert len(select_layers(model, "all-linear")) == 6 * model.config.n_layers


@pytest.mark.parametrize(
    ("name", "kinds"), [("llama", {"q_proj", "v_proj"}), ("phi3", {"qkv_proj"}), ("mamba2", {"in_proj", "out_proj"})]
)
def test_without_targets_it_is_the_papers_two_or_what_comes_next_to_them(name, kinds):
    assert {path.rpartition(".")[2] for path in tfkit.lora(built(name), 2).layers} == kinds


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_beside_half_precision_the_adapter_keeps_small_steps(dtype, tmp_path):
    model, ids = built("llama").to(dtype), drawn(2, 5)
    adapter = drawn_adapter(tfkit.lora(model, 2))
    layer = next(iter(adapter.layers.values()))
    assert all((torch.ones_like(weight) + 1e-4 > 1).all() for weight in adapter.parameters())
    out = model(ids).logits
    out.float().square().mean().backward()
    assert out.dtype == layer.weight.dtype == dtype and layer.b.grad.any() and layer.b.grad.dtype == torch.float32
    adapter.save_pretrained(tmp_path)
    saved = load_file(tmp_path / "adapter_model.safetensors")
    assert {tensor.dtype for tensor in saved.values()} == {torch.float32}
    assert {weight.dtype for weight in adapter.merge().parameters()} == {dtype}
    torch.testing.assert_close(model(ids).logits.float(), out.detach().float(), rtol=0.05, atol=0.05)
    adapter.remove()
    again = tfkit.load_adapter(model, tmp_path)
    assert all(torch.equal(again.layers[path].b, layer.b) for path, layer in adapter.layers.items())
    assert torch.equal(model(ids).logits, out)


def test_a_merged_model_is_saved_and_an_adapted_one_is_not(tmp_path):
    model, ids = built("gpt2"), drawn(1, 5)
    adapter = drawn_adapter(tfkit.lora(model, 2))
    with pytest.raises(ValueError, match="the model has an adapter: save that with its save_pretrained, or merge it"):
        model.save_pretrained(tmp_path / "no")
    assert not (tmp_path / "no").exists()
    adapter.merge().save_pretrained(tmp_path / "yes")
    with torch.no_grad():
        torch.testing.assert_close(tfkit.from_pretrained(tmp_path / "yes")(ids).logits, model(ids).logits)
    assert "2 layers" in repr(adapter) or "4 layers" in repr(adapter)


def test_what_is_no_layer_in_published_files_is_not_saved(tmp_path):
    adapter = tfkit.lora(built("xlnet", "masked_lm"), 2)
    with pytest.raises(ValueError, match=r"layers\.0\.attn\.q_proj is no layer of its own in published files: choose"):
        adapter.save_pretrained(tmp_path)


def test_generation_uses_the_adapter():
    model, ids = built("gpt2"), drawn(2, 5)
    plain = tfkit.generate(model, ids, max_new_tokens=6, end_id=-1)
    adapter = drawn_adapter(tfkit.lora(model, 2, alpha=40))
    found = model.generate(ids, max_new_tokens=6, end_id=-1)
    assert not torch.equal(found, plain)
    assert torch.equal(model.generate(ids, max_new_tokens=6, end_id=-1, compile="eager"), found)
    adapter.merge()
    assert torch.equal(model.generate(ids, max_new_tokens=6, end_id=-1), found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: tfkit.lora(m, 0), "rank=0: must be at least 1"),
        (lambda m: tfkit.lora(m, "8"), "rank='8': must be a whole number"),
        (lambda m: tfkit.lora(m, 2, alpha=-1), "alpha=-1: must be above 0"),
        (lambda m: tfkit.lora(m, 2, targets="nope"), "targets: GPT2 has no linear layer 'nope'; it has down, k_proj"),
        (lambda m: tfkit.lora(5, 2), "model is of type int: give a model of tfkit"),
        (lambda m: tfkit.lora(tfkit.lora(m, 2).model, 2), "GPT2 has an adapter already: merge it, or take it off"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        call(built("gpt2"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (dict(peft_type="IA3"), "peft_type is 'IA3'; only 'LORA' is read"),
        (dict(use_dora=True), "use_dora is True; only False is implemented"),
        (dict(use_qalora=True), "use_qalora is True; only False is implemented"),
        (dict(init_lora_weights="pissa"), "init_lora_weights is 'pissa', which changes the base's weights"),
        (dict(init_lora_weights="pissa_niter_4"), "init_lora_weights is 'pissa_niter_4'"),
        (dict(init_lora_weights="olora"), "init_lora_weights is 'olora'"),
        (dict(alpha_pattern={"h.(0": 2}), r"alpha_pattern has 'h\.\(0', no regular expression"),
        (dict(r="x"), "r is 'x'; it must be a number above 0"),
    ],
)
def test_files_that_are_not_read_are_named(config, message, tmp_path):
    peft_adapter(tmp_path / "a", "h.0.attn.c_proj", 16, 16, **config)
    with pytest.raises(ValueError, match=message) as error:
        tfkit.load_adapter(built("gpt2"), tmp_path / "a")
    assert "adapter_config.json" in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("pattern", "alpha"),
    [
        ({r"h\.[0-1]\.attn\.c_proj": 12}, 12),
        ({"attn.c_proj": 12, "c_proj": 9}, 12),
        ({"attn": 12}, 6),
        ({"_proj": 12}, 6),
        ({r"^transformer\..*c_proj": 12}, 12),
        ({"^h.0.attn.c_proj": 12}, 6),
    ],
)
@pytest.mark.parametrize("start", [None, True, "gaussian"])
@torch.no_grad()
def test_patterns_of_alpha_are_regular_expressions(pattern, alpha, start, tmp_path):
    model, module = built("gpt2"), "transformer.h.0.attn.c_proj"
    width = model.config.d_model
    peft_adapter(tmp_path / "a", module, width, width, alpha_pattern=pattern, init_lora_weights=start)
    (layer,) = tfkit.load_adapter(model, tmp_path / "a").layers.values()
    assert layer.scale == pytest.approx(alpha / 3)


def test_damaged_and_foreign_adapters_are_refused_in_a_line(tmp_path):
    model, file = built("gpt2"), tmp_path / "a" / "adapter_model.safetensors"
    with pytest.raises(FileNotFoundError, match=r"adapter_config\.json: not found"):
        tfkit.load_adapter(model, tmp_path)
    for module, rows, columns, message in (
        ("h.9.attn.c_proj", 16, 16, "the model has no layer h.9.attn.c_proj"),
        ("h.0.attn.c_proj", 15, 16, r"h\.0\.attn\.c_proj is \[15, 3\] · \[3, 16\], not 16 rows"),
        ("h.0.attn.c_proj", 16, 15, r"h\.0\.attn\.c_proj reads 15 numbers"),
    ):
        peft_adapter(tmp_path / "a", module, rows, columns)
        with pytest.raises(ValueError, match=message) as error:
            tfkit.load_adapter(model, tmp_path / "a")
        assert str(file) in str(error.value) and "\n" not in str(error.value)
        file.unlink(), (tmp_path / "a" / "adapter_config.json").unlink(), (tmp_path / "a").rmdir()
    peft_adapter(tmp_path / "a", "h.0.attn.c_proj", 16, 16)
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ValueError, match="damaged or cut off"):
        tfkit.load_adapter(model, tmp_path / "a")
    assert not any(isinstance(module, AdaptedLinear) for module in model.modules())
