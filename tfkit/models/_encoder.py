"""How encoders are called: from the arguments of a call to checked inputs, and from states to the head's output.

The model gives `embed.tokens`, the table of tokens, `task_head`, the head, and `pooler` or None: see `add_head`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ..nn import Cache
from . import _heads as heads
from ._base import Output, check_ids, to_padding_mask


@dataclass(frozen=True)
class EncoderInputs:
    """ids [B,L]; types, position_ids, and extra inputs by name, as given or None; mask bool [B,K] or None; targets: of
    the head; choices: the number of rows of ids per question."""

    ids: Tensor
    types: Tensor | None
    position_ids: Tensor | None
    extra: dict[str, Tensor | None]
    mask: Tensor | None
    targets: dict[str, Tensor]
    choices: int


def encoder_inputs(
    model: Any,
    input_ids: Tensor | None,
    attention_mask: Tensor | None,
    token_type_ids: Tensor | None,
    position_ids: Tensor | None,
    targets: Mapping[str, Tensor | None],
    *,
    extra: Mapping[str, Tensor | None] | None = None,
    past: int | Tensor = 0,
) -> EncoderInputs:
    """Checks the inputs; for multiple choice [B,C,L] becomes rows [B·C,L]. extra: further inputs of that shape; past:
    the number of positions in a cache, which the mask also covers. Raises ValueError or TypeError for invalid
    inputs."""
    known, choices = model.check_targets(dict(targets)), 1
    given = {"input_ids": input_ids, "types": token_type_ids, "position_ids": position_ids, **(extra or {})}
    if model.head == "multiple_choice":
        choices, given, attention_mask = heads.flatten_choices(given, attention_mask)
    ids = check_ids("input_ids", given.pop("input_ids"))
    types, places = given.pop("types"), given.pop("position_ids")
    if types is not None and types.shape != ids.shape:
        raise ValueError(f"token_type_ids has shape {list(types.shape)}, input_ids has {list(ids.shape)}")
    if places is not None and places.shape[-1:] != ids.shape[-1:]:
        raise ValueError(f"position_ids has shape {list(places.shape)}, input_ids has {list(ids.shape)}")
    mask = to_padding_mask("attention_mask", attention_mask, (ids.size(0), past + ids.size(1)))  # type: ignore[arg-type]
    return EncoderInputs(ids, types, places, given, mask, known, choices)


def with_head(model: Any, inputs: EncoderInputs, x: Tensor, cache: Cache | None = None) -> Output:
    """The head's output for the states x [B,L,E]."""
    pooled = None if model.pooler is None else torch.tanh(model.pooler(x[:, 0]))  # [B,E]
    head_inputs = heads.HeadInputs(x, pooled, model.output_matrix(model.embed.tokens), inputs.mask, inputs.choices)
    return Output(model.task_head(head_inputs, **inputs.targets), cache=cache)


def add_head(model: Any, tops: Mapping[str | None, type[heads.Head]]) -> None:
    """Adds the head to the model, with the pooler and the separate output matrix if the head needs them."""
    c = model.config
    model.task_head = tops[model.head](c)
    model.pooler = nn.Linear(c.d_model, c.d_model) if model.task_head.NEEDS_POOLER else None
    if model.task_head.HAS_OUTPUT_MATRIX and not c.tie_word_embeddings:
        model.untie(model.embed.tokens)
