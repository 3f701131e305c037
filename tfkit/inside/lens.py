"""A model's predictions if it stopped after each block (nostalgebraist 2020, "interpreting GPT: the logit lens")."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .edits import edit
from .layers import block_outputs, in_last_block


@torch.no_grad()
def logit_lens(model: nn.Module, **inputs: Any) -> torch.Tensor:
    """The model's logits [N,B,L,V] if the output of its last block is replaced by that of each of its N blocks.

    So everything after the blocks (norm, head, tied embeddings, biases, logit caps) is the model's own, and the last of
    the N equals the model's logits, bit for bit. It takes N more forward passes. Blocks that work on another length
    than the last one (Funnel's pooled ones) are left out. Raises ValueError for a model without a stack of blocks or
    without a vocabulary head.
    """
    blocks, out = block_outputs(model, **inputs)
    if out.get("logits") is None:
        raise ValueError(f"{type(model).__name__} has no logits: create it with a language-model head")
    last = blocks[-1]
    same = [block for block in blocks if block.states.shape == last.states.shape]
    return torch.stack([_logits_from(model, last.path, in_last_block(last, block.states), inputs) for block in same])


def _logits_from(model: nn.Module, path: str, change: list[Any], inputs: dict[str, Any]) -> torch.Tensor:
    with edit(model) as e:
        e[path] = change
        return model(**inputs)["logits"]
