"""Converts a GGUF file, llama.cpp's format, to a directory in Hugging Face's layout; its weights are dequantised.

The package `gguf` reads the format and dequantises. What llama.cpp changed is changed back: its rotary embedding
rotates the features in pairs (0, 1), (2, 3) …, where Hugging Face's files pair (0, n/2), (1, n/2 + 1) ….
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, decoders, models, pre_tokenizers
from tokenizers import Tokenizer as Inner

NAMES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}  # fmt: skip
CONTROL = 3  # the token type of control tokens in GGUF


def convert(file: Path, directory: Path, dtype: torch.dtype = torch.float16) -> None:
    """Writes config.json, model.safetensors, tokenizer.json and the files beside them. Raises ValueError for an
    architecture other than Llama's or a vocabulary other than SmolLM's."""
    import gguf

    reader = gguf.GGUFReader(file)
    metadata = {name: field.contents() for name, field in reader.fields.items()}
    kind, vocabulary = metadata.get("general.architecture"), metadata.get("tokenizer.ggml.pre")
    if kind != "llama" or vocabulary != "smollm":
        raise ValueError(f"{file}: a {kind} with the vocabulary of {vocabulary}; llama with smollm's is understood")
    config = read_config(metadata, tied=all(tensor.name != "output.weight" for tensor in reader.tensors))
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    weights = {}
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).reshape(tuple(int(n) for n in reversed(tensor.shape)))
        name, part = hf_name(tensor.name)
        values = halves(values, heads[part]) if part in heads else values
        weights[name] = torch.from_numpy(np.array(values, dtype=np.float32)).to(dtype)
    save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    tokenizer(metadata).save(str(directory / "tokenizer.json"))
    for name, content in (("config.json", config), *read_side_files(metadata).items()):
        (directory / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def hf_name(name: str) -> tuple[str, str]:
    """blk.3.attn_q.weight -> model.layers.3.self_attn.q_proj.weight, attn_q. Raises ValueError for another name."""
    *front, part, ending = name.split(".")
    if part not in NAMES or ending not in ("weight", "bias"):
        raise ValueError(f"the tensor {name} does not belong to Llama")
    layer = f"model.layers.{front[1]}." if front else ""
    return f"{layer}{NAMES[part]}.{ending}", part


def halves(rows: np.ndarray, heads: int) -> np.ndarray:
    """[heads·n,E], rotary pairs interleaved (0, 1) … -> pairs split over the two halves (0, n/2) …"""
    return rows.reshape(heads, -1, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def read_config(metadata: dict[str, Any], tied: bool) -> dict[str, Any]:
    """The content of config.json, from the metadata of the GGUF file."""
    get = lambda name: metadata[f"llama.{name}"]
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(metadata["tokenizer.ggml.tokens"]),
        "hidden_size": get("embedding_length"),
        "intermediate_size": get("feed_forward_length"),
        "num_hidden_layers": get("block_count"),
        "num_attention_heads": get("attention.head_count"),
        "num_key_value_heads": get("attention.head_count_kv"),
        "max_position_embeddings": get("context_length"),
        "rms_norm_eps": round(get("attention.layer_norm_rms_epsilon"), 10),  # the file stores it as float32
        "rope_theta": get("rope.freq_base"),
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": tied,
        "bos_token_id": metadata["tokenizer.ggml.bos_token_id"],
        "eos_token_id": metadata["tokenizer.ggml.eos_token_id"],
        "pad_token_id": metadata["tokenizer.ggml.padding_token_id"],
    }


def read_side_files(metadata: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The other files: the ids that end generation, and the names of special tokens with the chat template."""
    jobs = {"bos": "bos_token", "eos": "eos_token", "padding": "pad_token", "unknown": "unk_token"}
    ids = {name: metadata[f"tokenizer.ggml.{job}_token_id"] for job, name in jobs.items()}
    names = {name: metadata["tokenizer.ggml.tokens"][i] for name, i in ids.items()}
    ends = {f"{name}_id": i for name, i in ids.items() if name != "unk_token"}
    template = {"chat_template": metadata["tokenizer.chat_template"]} if "tokenizer.chat_template" in metadata else {}
    return {"generation_config.json": ends, "tokenizer_config.json": names | template}


def tokenizer(metadata: dict[str, Any]) -> Inner:
    """Byte-level BPE that splits numbers into single digits, as SmolLM's does."""
    tokens, types = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
    merges = [tuple(line.split(" ")) for line in metadata["tokenizer.ggml.merges"]]
    inner = Inner(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    digits, letters = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.pre_tokenizer = pre_tokenizers.Sequence([digits, letters])
    inner.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, types, strict=True) if kind == CONTROL]
    inner.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    return inner
