"""`generate`: ids in, ids out, for any model, in batches and with caches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from tfkit.decode.decoders import decoder_for, is_ours
from tfkit.decode.search import Hypotheses, Step, search
from tfkit.decode.strategies import GREEDY, Strategy


def generate(
    model: Any,
    input_ids: Tensor | None,
    strategy: Strategy = GREEDY,
    *,
    max_new_tokens: int = 64,
    attention_mask: Tensor | None = None,
    start_id: int | None = None,
    end_id: int | None = None,
    pad_id: int | None = None,
    generator: torch.Generator | None = None,
    trace: bool = False,
) -> Tensor | tuple[Tensor, list[Step]]:
    """The best hypothesis of each sentence, ids [B,T]: the start, its tokens, its end, then padding.

    `model`: a tfkit encoder-decoder (ids and mask come from its config; it decodes with a cache), or one with
    `encode(src)` and `decode(tgt_in, memory, src)` (give start_id, end_id). input_ids [B,S]. `trace=True` returns
    (ids, list of Step). Raises TypeError for a model it cannot drive, ValueError when an id is missing.
    """
    start_id, end_id, pad_id = special_ids(model, start_id, end_id, pad_id)
    steps: list[Step] = []
    with evaluating(model):
        decoder = decoder_for(model, input_ids, attention_mask)
        prompt = torch.full_like(input_ids[:, :1], start_id) if input_ids is not None else torch.tensor([[start_id]])
        found = Hypotheses(len(prompt))
        for step in search(decoder, prompt, strategy, end_id, max_new_tokens, generator):
            found.add(step)
            steps += [step] if trace else []
    rows = [[start_id, *ranked[0][0]] for ranked in found.ranked(strategy)]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [pad_id] * (longest - len(row)) for row in rows], device=prompt.device)
    return (ids, steps) if trace else ids


def special_ids(model: Any, start: int | None, end: int | None, pad: int | None) -> tuple[int, int | None, int]:
    """The start, end and padding ids: as given, else from the model's config."""
    config = model.config if is_ours(model) else None
    start = getattr(config, "decoder_start_token_id", None) if start is None else start
    end = getattr(config, "eos_token_id", None) if end is None else end
    pad = getattr(config, "pad_token_id", getattr(model, "pad_id", 0)) if pad is None else pad
    if start is None:
        raise ValueError(
            f"{type(model).__name__} has no config that names the start symbol: give start_id (and end_id)"
        )
    return start, end, pad


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Dropout off and no gradients inside; the model's mode comes back."""
    was = model.training if isinstance(model, nn.Module) else False
    if was:
        model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        if was:
            model.train()
