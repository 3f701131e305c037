"""Sentence embeddings as configured in sentence-transformers' files (Reimers & Gurevych 2019, arXiv:1908.10084)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from ..hub.files import read_json

Pool = Callable[[Tensor, Tensor], Tensor]


def mean(states: Tensor, non_padding: Tensor) -> Tensor:
    """states [B,L,E], non_padding bool [B,L] -> [B,E]: the mean over tokens that are not padding; zeros if there are
    none
    """
    weights = non_padding[..., None].to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1)


def mean_sqrt(states: Tensor, non_padding: Tensor) -> Tensor:
    """The sum divided by the square root of the number of tokens."""
    return mean(states, non_padding) * non_padding.sum(1, keepdim=True).clamp(min=1).sqrt().to(states.dtype)


def highest(states: Tensor, non_padding: Tensor) -> Tensor:
    """The maximum of each feature."""
    return states.masked_fill(~non_padding[..., None], -1e9).amax(1)  # -1e9, as in sentence-transformers


def first_state(states: Tensor, non_padding: Tensor) -> Tensor:
    """The state of the first token, which is [CLS]."""
    return states[range(len(states)), non_padding.int().argmax(1)]


def last_state(states: Tensor, non_padding: Tensor) -> Tensor:
    """The state of the last token before padding."""
    return states[range(len(states)), non_padding.size(1) - 1 - non_padding.flip(1).int().argmax(1)]


POOLS: dict[str, Pool] = {
    "cls": first_state, "cls_token": first_state, "max": highest, "max_tokens": highest,
    "mean": mean, "mean_tokens": mean,
    "mean_sqrt_len_tokens": mean_sqrt, "lasttoken": last_state,
}  # fmt: skip


@dataclass(frozen=True)
class Pooling:
    """How a text's states become one vector. length: maximum length of texts in tokens; None: the model's maximum."""

    how: str = "mean"
    unit: bool = True  # whether the vector is normalised to length one
    length: int | None = None
    lowercase: bool = False

    def __call__(self, states: Tensor, non_padding: Tensor) -> Tensor:
        """states [B,L,E], non_padding bool [B,L] -> [B,E]"""
        pooled = POOLS[self.how](states, non_padding)
        return F.normalize(pooled, dim=-1) if self.unit else pooled


def pooling(directory: Path | None) -> Pooling:
    """The pooling that a directory specifies: modules.json lists the steps, 1_Pooling/config.json the kind of pooling.
    Without modules.json, the mean, normalised to length one. Raises ValueError for unknown steps and kinds."""
    if directory is None or not (directory / "modules.json").is_file():
        return Pooling()
    steps = {str(step["type"]).rpartition(".")[2]: str(step["path"]) for step in _steps(directory / "modules.json")}
    if unknown_steps := sorted(steps.keys() - {"Transformer", "Pooling", "Normalize"}):
        raise ValueError(f"{directory / 'modules.json'}: the step {unknown_steps[0]} is not supported")
    length: dict[str, Any] = {}
    if (file := directory / steps.get("Transformer", "") / "sentence_bert_config.json").is_file():
        length = read_json(file)
    how = _way(directory / steps["Pooling"] / "config.json") if "Pooling" in steps else "mean"
    return Pooling(how, "Normalize" in steps, length.get("max_seq_length"), bool(length.get("do_lower_case")))


def _steps(file: Path) -> list[dict[str, Any]]:
    found = json.loads(file.read_text(encoding="utf-8"))
    right = lambda step: isinstance(step, dict) and {"type", "path"} <= step.keys()
    if not isinstance(found, list) or not all(map(right, found)):
        raise ValueError(f"{file}: not a list of steps, each with its type and path")
    return found


def _way(file: Path) -> str:
    described = read_json(file)
    ways = [name.removeprefix("pooling_mode_") for name, on in described.items() if on is True and "mode_" in name]
    ways = ways or [str(described.get("pooling_mode", "mean"))]
    if len(ways) > 1 or ways[0] not in POOLS:
        raise ValueError(f"{file}: pooling by {' and '.join(ways)} is not supported; supported: {', '.join(POOLS)}")
    return ways[0]
