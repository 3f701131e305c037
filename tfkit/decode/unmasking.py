"""Writing by filling in masks: the search of masked diffusion language models (Nie et al. 2025, arXiv:2502.09992, 2.4).

Nothing goes from left to right: at each step the model predicts all masked positions at once, and those of which it is
surest keep their token (as MaskGIT does: Chang et al. 2022, arXiv:2202.04200). With blocks the text is filled in block
by block, as a compromise with writing from left to right (semi-autoregressive: Arriola et al. 2025, arXiv:2503.09573).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tfkit.decode.checks import require_number, require_whole
from tfkit.decode.drawing import draw
from tfkit.decode.generate import evaluating, move_padding_left
from tfkit.decode.search import at_least_float32

ORDERS = ("confidence", "random")


@dataclass(frozen=True, eq=False)
class UnmaskingStep:
    """One step of filling in. ids [B,T]: the texts after it; filled bool [B,T]: which tokens it found; confidence
    [B,T]: the probability of the token that was predicted at each position that was masked before, else 0;
    probabilities [B,T,V]: of all tokens."""

    ids: Tensor
    filled: Tensor
    confidence: Tensor
    probabilities: Tensor


def unmask(
    model: Any,
    input_ids: Tensor,
    *,
    attention_mask: Tensor | None = None,
    max_new_tokens: int = 0,
    mask_id: int | None = None,
    block: int | None = None,
    steps: int | None = None,
    temperature: float = 0.0,
    order: str = "confidence",
    generator: torch.Generator | None = None,
    on_step: Callable[[UnmaskingStep], Any] | None = None,
) -> Tensor:
    """Fills in every mask of the texts, and as many new tokens after them.

    model: `model(input_ids [B,T], attention_mask).logits` [B,T,V] are the scores of the token at each position, as of
    head "masked_lm"; input_ids [B,T], in which masks may stand anywhere; attention_mask [B,T]: 1 a token, 0 padding, on
    either side, which is moved to the left before new tokens; mask_id: the mask's id, by default the configuration's
    `mask_token_id`. block: how many masks of a text are filled in before the next ones, counted from the left (default:
    all at once); steps: for each block, in which equally many are filled in (default: one at a time). temperature: 0
    takes the most probable token; order: "confidence", or "random", which ignores how sure the model is; on_step:
    called with each step. The mask itself is never predicted.

    -> ids [B,T+max_new_tokens]. Raises ValueError or TypeError for settings that cannot be.
    """
    mask_id = mask_of(model) if mask_id is None else mask_id
    check_settings(max_new_tokens, block, steps, temperature, order)
    if attention_mask is not None and max_new_tokens:
        input_ids, attention_mask = move_padding_left(input_ids, attention_mask.bool(), mask_id, ())
    ids = F.pad(input_ids, (0, max_new_tokens), value=mask_id)
    mask = None if attention_mask is None else F.pad(attention_mask, (0, max_new_tokens), value=1)
    masked = (ids == mask_id) if mask is None else (ids == mask_id) & mask.bool()
    size = block or max(1, int(masked.sum(1).max()))
    number = masked.cumsum(1) - 1  # [B,T]: which of its text's masks each is
    with evaluating(model):
        for start in range(0, int(masked.sum(1).max()), size):
            here = masked & (number >= start) & (number < start + size)
            for count in counts_of_steps(here.sum(1), steps or size):
                tokens, probabilities = predict(model, ids, mask, mask_id, temperature, generator)
                confidence = probabilities.gather(-1, tokens[..., None]).squeeze(-1)
                rank = confidence if order == "confidence" else random_like(confidence, generator)
                filled = largest(rank.masked_fill(~here, -torch.inf), count)
                confidence = confidence.masked_fill(ids != mask_id, 0.0)
                ids, here = torch.where(filled, tokens, ids), here & ~filled
                if on_step is not None:
                    on_step(UnmaskingStep(ids, filled, confidence, probabilities))
    return ids.clone()


def check_settings(max_new_tokens: int, block: int | None, steps: int | None, temperature: float, order: str) -> None:
    """Raises ValueError or TypeError for settings of `unmask` that cannot be."""
    require_whole("max_new_tokens", max_new_tokens)
    for name, given in (("block", block), ("steps", steps)):
        if given is not None:
            require_whole(name, given, least=1)
    require_number("temperature", temperature, least=0)
    if order not in ORDERS:
        raise ValueError(f"order={order!r}: must be one of {', '.join(ORDERS)}")


def mask_of(model: Any) -> int:
    """The id of a model's mask. Raises ValueError if its configuration names none."""
    found = getattr(getattr(model, "config", None), "mask_token_id", None)
    if found is None:
        raise ValueError(f"{type(model).__name__} names no mask_token_id: give mask_id")
    return int(found)


def counts_of_steps(total: Tensor, steps: int) -> list[Tensor]:
    """total int64 [B], the masks of each text -> how many are filled in at each step, int64 [B] each: equally many, the
    first ones one more; steps in which no text has any are left out"""
    counts = [total // steps + (total % steps > step).long() for step in range(steps)]
    return [count for count in counts if bool(count.any())]


def predict(
    model: Any, ids: Tensor, mask: Tensor | None, mask_id: int, temperature: float, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """ids [B,T] -> a token for each position [B,T], and the probabilities of all, at temperature 1 [B,T,V]"""
    scores = at_least_float32(model(ids, attention_mask=mask).logits)
    scores = scores.index_fill(-1, torch.tensor([mask_id], device=scores.device), -torch.inf)
    probabilities = scores.softmax(-1)
    if temperature == 0:
        tokens = scores.argmax(-1)
    else:
        tokens = draw((scores / temperature).softmax(-1).flatten(0, 1), generator).view_as(ids)
    return tokens, probabilities


def random_like(x: Tensor, generator: torch.Generator | None) -> Tensor:
    """Uniform draws in the shape of x."""
    return torch.rand(x.shape, generator=generator, dtype=x.dtype, device=x.device)


def largest(values: Tensor, count: Tensor) -> Tensor:
    """values [B,T], count int64 [B] -> bool [B,T]: the `count` largest of each row, of equal ones the first"""
    rank = values.argsort(dim=1, descending=True, stable=True).argsort(dim=1)
    return rank < count[:, None]
