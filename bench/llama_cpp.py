"""llama.cpp beside tfkit: the same weights as a GGUF file, and its decoder by xllamacpp.

`pip install xllamacpp` brings llama.cpp as a wheel (llama-cpp-python is published as source alone, which takes a
compiler). Decoders in Llama's layout only, with a vocabulary of made-up words, as ids go in and are counted.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from tfkit.hub import save_pretrained
from tfkit.hub.gguf_files import NAMES

KINDS = {"float32": "F32", "bfloat16": "BF16", "int8": "Q8_0"}  # tfkit's dtype -> GGUF's type


def is_available(model: Any) -> bool:
    """Whether the packages are here and the model has Llama's layout."""
    return model.config.__class__.__module__ == "tfkit.models.llama" and None not in map(
        find_spec, ("xllamacpp", "gguf")
    )


def pairs(weight: Tensor, heads: int) -> Tensor:
    """Rows of q_proj or k_proj [H·D,E] in the order that llama.cpp rotates: i and i + D/2 become neighbours."""
    return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).reshape(weight.shape)


def write(model: Any, file: Path, dtype: str) -> None:
    """Writes a model as GGUF; norms stay float32, as llama.cpp's own converter leaves them."""
    import gguf

    c, writer = model.config, gguf.GGUFWriter(file, "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(c.d_model)
    writer.add_block_count(c.n_layers)
    writer.add_feed_forward_length(c.d_ff)
    writer.add_head_count(c.n_heads)
    writer.add_head_count_kv(c.n_kv_heads or c.n_heads)
    writer.add_layer_norm_rms_eps(c.eps)
    writer.add_rope_freq_base(c.rope_theta)
    writer.add_rope_dimension_count(c.d_model // c.n_heads)
    writer.add_vocab_size(c.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([f"t{i}" for i in range(c.vocab_size)])
    writer.add_token_types([1] * c.vocab_size)
    writer.add_token_merges(["t 1"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    for name, weight in named_weights(model):
        kind = gguf.GGMLQuantizationType[KINDS[dtype] if weight.dim() > 1 else "F32"]
        values = weight.float().numpy()
        writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def named_weights(model: Any) -> list[tuple[str, Tensor]]:
    """The weights of a model under llama.cpp's names, and in its order of rows."""
    local = {published: own for own, published in NAMES.items()}
    heads = {"attn_q": model.config.n_heads, "attn_k": model.config.n_kv_heads or model.config.n_heads}
    with tempfile.TemporaryDirectory() as directory:
        save_pretrained(model, directory)
        weights = load_file(Path(directory) / "model.safetensors")
    found = []
    for name, weight in weights.items():
        layer = re.fullmatch(r"model\.layers\.(\d+)\.(.+)\.weight", name)
        part = local[layer[2] if layer else name.removesuffix(".weight")]
        weight = pairs(weight, heads[part]) if part in heads else weight
        found.append((f"blk.{layer[1]}.{part}.weight" if layer else f"{part}.weight", weight))
    return found


class LlamaCpp:
    """llama.cpp on one GGUF file: as many threads as torch has, no cache of earlier prompts."""

    def __init__(self, file: Path) -> None:
        import xllamacpp

        settings = xllamacpp.CommonParams()
        settings.model.path = str(file)
        settings.n_ctx, settings.n_parallel, settings.verbosity = 512, 1, 0
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = torch.get_num_threads()
        settings.cache_prompt = False
        self.server = xllamacpp.Server(settings)

    def words(self, ids: Tensor, new: int) -> list[int]:
        """ids [1,t] -> the `new` ids that follow, greedily"""
        asked = {"prompt": ids[0].tolist(), "max_tokens": new, "temperature": 0, "ignore_eos": True}
        answer = self.server.handle_completions({**asked, "cache_prompt": False})
        return [int(word) for word in answer["choices"][0]["text"].split("t")[1:]]


def decoders(model: Any, ids: Tensor) -> dict[str, Callable[[int], Any]]:
    """A function that decodes so many tokens for each type of weight, by the name of its column; none where llama.cpp
    is missing or does not know the model."""
    found: dict[str, Callable[[int], Any]] = {}
    if not is_available(model):
        return found
    with tempfile.TemporaryDirectory() as directory:
        for dtype, kind in KINDS.items():
            file = Path(directory) / f"{dtype}.gguf"
            write(model, file, dtype)
            engine = LlamaCpp(file)  # it maps the file, which may then go
            also = ", activations too" if dtype == "int8" else ""  # tfkit's int8 rounds the weights alone
            found[f"llama.cpp, {kind}{also}"] = lambda new, engine=engine: engine.words(ids, new)  # type: ignore[misc]
    return found
