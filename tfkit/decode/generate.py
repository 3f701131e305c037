"""`generate`: ids in, ids out, for any model, in batches and with caches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from tfkit.decode.decoders import Decoder, decoder_for, is_causal, is_ours, need_words
from tfkit.decode.prompts import Ids, Rows, as_rows, prompts, special_ids
from tfkit.decode.rules import Rules
from tfkit.decode.search import Step, Strategy, Task
from tfkit.decode.strategies import GREEDY


def generate(
    model: Any,
    input_ids: Rows,
    strategy: Strategy = GREEDY,
    *,
    max_new_tokens: int = 64,
    attention_mask: Tensor | None = None,
    start_id: int | None = None,
    end_id: Ids = None,
    pad_id: int | None = None,
    prefix: Ids | Tensor = None,
    returns: int = 1,
    generator: torch.Generator | None = None,
    static_cache: bool = False,
    trace: bool = False,
    **rules: Any,
) -> Any:
    """The best continuation of each sentence, ids [B·returns,T]: its start or prompt, its tokens, its end, padding.

    `model`: of tfkit, an encoder-decoder or a decoder alone (ids come from its config; it decodes with a cache), or one
    with `encode(src)` and `decode(tgt_in, memory, src)`, or `step(prefix [N,t]) -> logits [N,V]` (give start_id and
    end_id). input_ids: the sources or, for a decoder alone, the prompts: [B,S] with attention_mask, or lists of unequal
    length; prompts come back padded on the left.
    end_id: one or several; -1: none. prefix: tokens that come first, after the start or before the prompt (a language
    code, a control code), for all rows or [B,n]. returns: how many of a beam's hypotheses, best first.
    static_cache: of fixed size, for compilers. rules: as in `Rules`; max_length counts the prompt too.
    `trace=True` returns (ids, list of Step). Raises TypeError for a model it cannot drive or a rule it does not know,
    ValueError for a missing id.
    """
    need_words(model)
    start, ends, pad = special_ids(model, start_id, end_id, pad_id)
    steps: list[Step] = []
    with evaluating(model):
        source, mask = as_rows(input_ids, attention_mask, pad, model)
        prompt, mask = prompts(model, source, mask, start, (pad, ends), prefix)
        limit = new_tokens(prompt, max_new_tokens, rules.pop("max_length", None))
        if not 1 <= returns <= strategy.width:
            raise ValueError(f"returns={returns}: {type(strategy).__name__} has {strategy.width} to give")

        def make(other: Any = None, rows: slice = slice(None)) -> Decoder:
            """A decoder for these rows of the sources, of `model` or of `other`, a draft."""
            part, hidden = (None if tensor is None else tensor[rows] for tensor in (source, mask))
            return decoder_for(model if other is None else other, part, hidden, prompt.size(1) + limit, static_cache)

        applied = rules_of(model, rules).for_run(prompt.size(1), limit, ends, prompt.device)
        watch = steps.append if trace else None
        real = mask if is_causal(model) else None
        ids = strategy.run(Task(make, prompt, limit, ends, pad, applied, generator, watch, returns, real))
    ids = ids.clone()
    return (ids, steps) if trace else ids


def new_tokens(prompt: Tensor, given: int, longest: int | None) -> int:
    """How many tokens there may be after prompts [B,t], of `longest` in all."""
    limit = given if longest is None else longest - prompt.size(1)
    if limit < 0:
        raise ValueError(f"{limit} new tokens are asked for: the prompt has {prompt.size(1)}, max_length is {longest}")
    return limit


def rules_of(model: Any, given: dict[str, Any]) -> Rules:
    """The rules as given; tokens that the model's configuration forces, unless given otherwise."""
    config = model.config if is_ours(model) else None
    if not is_causal(model):
        for name in ("forced_bos_token_id", "forced_eos_token_id"):
            given.setdefault(name, getattr(config, name, None))
    unknown = [name for name in given if name not in Rules.__dataclass_fields__]
    if unknown:
        raise TypeError(f"generate knows no {unknown[0]!r}; rules are {', '.join(Rules.__dataclass_fields__)}")
    return Rules(**given)


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Dropout off and no gradients inside; the model's mode comes back.

    Our own models run in inference mode, a fifth faster where steps are small; tensors made in it may not be trained
    with, so what is kept must be cloned outside. Other people's models may keep tensors themselves."""
    was = model.training if isinstance(model, nn.Module) else False
    if was:
        model.eval()
    try:
        with torch.inference_mode() if is_ours(model) else torch.no_grad():
            yield
    finally:
        if was:
            model.train()
