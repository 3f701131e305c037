"""The file that the page loads: the model's matrices in bytes, and its vocabulary; and the numbers it is held to."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

import tfkit
from tfkit.inside import logit_lens
from tfkit.nn.fast import dequantize_rows, quantize_rows
from tfkit.text.tokenizer import BYTES

from . import MODEL, START

TEXTS = (
    "The capital of Italy is",
    "Anna has a dog and Tom has a cat. Anna has a",
    "Don't   ask: naïve café, 12 + 3 = 15 … 日本?\n",
)


def base64_of(values: Tensor) -> str:
    """A tensor's bytes in base64."""
    return base64.b64encode(values.contiguous().numpy().tobytes()).decode()


def pack_tensor(weight: Tensor) -> dict[str, Any]:
    """A matrix [rows,columns] in int8, with a scale for each row; a vector in float32."""
    if weight.dim() == 1:
        return {"shape": list(weight.shape), "data": base64_of(weight)}
    rounded, scales = quantize_rows(weight)
    return {"shape": list(weight.shape), "data": base64_of(rounded), "scales": base64_of(scales)}


def unpack_tensor(tensor: dict[str, Any]) -> Tensor:
    """The tensor that `pack_tensor` wrote."""
    kind = torch.int8 if "scales" in tensor else torch.float32
    values = torch.frombuffer(bytearray(base64.b64decode(tensor["data"])), dtype=kind).view(tensor["shape"])
    if "scales" not in tensor:
        return values
    scales = torch.frombuffer(bytearray(base64.b64decode(tensor["scales"])), dtype=torch.float32)
    return dequantize_rows(values, scales)


def vocabulary(tokenizer: Tokenizer) -> dict[str, Any]:
    """The token of each byte, and the pairs that are joined; their tokens follow those of the bytes."""
    ids = tokenizer.get_vocab()
    merges = [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]
    first = ids["".join(merges[0])]
    assert [ids["".join(pair)] for pair in merges] == [*range(first, first + len(merges))]
    return {"bytes": byte_tokens(ids), "merges": [[ids[left], ids[right]] for left, right in merges], "first": first}


def byte_tokens(ids: dict[str, int]) -> list[int]:
    """The token of each byte, from 0 to 255."""
    return [ids[letter] for letter in sorted(BYTES, key=BYTES.__getitem__)]


def pack(model: Any, tokenizer: Tokenizer, file: Path = MODEL) -> None:
    """Write the page's file."""
    c = model.config
    config = {"width": c.d_model, "layers": c.n_layers, "heads": c.n_heads, "theta": c.rope_theta, "eps": c.eps}
    tensors = {name: pack_tensor(weight.detach()) for name, weight in model.state_dict().items()}
    made = {"config": config, "vocabulary": vocabulary(tokenizer), "tensors": tensors}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(made, separators=(",", ":")) + "\n", encoding="utf-8")


def load(file: Path = MODEL) -> nn.Module:
    """tfkit's model with the numbers of the page's file."""
    read = json.loads(file.read_text(encoding="utf-8"))
    config, tensors = read["config"], read["tensors"]
    model = tfkit.from_config(
        "llama", head="causal_lm", vocab_size=tensors["embed.weight"]["shape"][0], d_model=config["width"],
        n_layers=config["layers"], n_heads=config["heads"], d_ff=tensors["layers.0.ff.up.weight"]["shape"][0],
        rope_theta=config["theta"], eps=config["eps"], tie_word_embeddings=True,
    )  # fmt: skip
    model.load_state_dict({name: unpack_tensor(tensor) for name, tensor in tensors.items()})
    return model.eval()


def reading(model: nn.Module, ids: list[int]) -> dict[str, Any]:
    """What tfkit computes of a text, rounded: the last position's logits, its attention, and the first guess after each
    layer at each position."""
    asked = torch.tensor([ids])
    with torch.no_grad(), tfkit.trace(model) as seen:
        logits = model(asked).logits[0, -1]
    shares = logit_lens(model, input_ids=asked).flatten(1, -2).softmax(-1)
    best = shares.max(-1)
    n_layers = len(best.values) - 1
    weights = [seen[f"layers.{n}.attn.weights"][0, :, -1] for n in range(n_layers)]
    rounded = lambda values: [float(f"{value:.6g}") for value in values.tolist()]
    return {
        "ids": ids,
        "logits": rounded(logits[:64]),
        "largest": int(logits.argmax()),
        "weights": [[rounded(head) for head in layer] for layer in weights],
        "lens": [[rounded(row), ids_of.tolist()] for row, ids_of in zip(best.values, best.indices, strict=True)],
    }


def golden(model: nn.Module, tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """The numbers of TEXTS, by which the page's tokenizer and forward pass are held to tokenizers' and tfkit's."""
    start = tokenizer.token_to_id(START)
    return [{"text": text, **reading(model, [start, *tokenizer.encode(text).ids])} for text in TEXTS]
