"""A decoding run as plain JSON: the tree of hypotheses, the likeliest tokens, and the attention.

The form is `tfkit.trace/1`, which `tfkit_lab.Stepper` draws. Node 0 is the last token of the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tfkit.decode.attention_maps import attention
from tfkit.decode.cache_trace import CacheTracingStrategy
from tfkit.decode.decoders import is_causal
from tfkit.decode.generate import evaluating, generate
from tfkit.decode.logits_processors import LogitsProcessors
from tfkit.decode.search import Step, Strategy
from tfkit.decode.strategies import GREEDY
from tfkit.decode.tree import TokenNames, Tree, token_name

BUDGET = 500_000  # bytes of a trace as JSON, saved in the notebook: 60 steps of 12 × 12 heads take half of it


def record(
    model: Any,
    source_ids: Tensor | None = None,
    *,
    token: TokenNames,
    strategy: Strategy = GREEDY,
    start_id: int | None = None,
    end_id: int | None = None,
    max_new_tokens: int = 40,
    title: str = "",
    top_logprobs: int = 8,
    budget: int = BUDGET,
    source_token: TokenNames | None = None,
    generator: torch.Generator | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Decode one sentence and record the whole run as a dict for `json.dumps`.

    `model`: a tfkit encoder-decoder or decoder-only model (source_ids are its prompt, and the trace has no source), one
    with `encode(src)` and `decode(tgt_in, memory, src)`, or a function `step(prefix_ids[N,t]) -> logits[N,V]` (then
    without attention). source_ids [1,S] or [S]. `token(id)` names an id, `source_token` those of the source if it has
    another vocabulary. `top_logprobs`: how many of the likeliest tokens to keep. `budget`: bytes of the trace as JSON.
    Steps are never dropped: attention gets the bytes that they leave, at least a quarter of the budget, and is
    max-pooled until it fits. settings: as in `generate`. Raises ValueError for more than one sentence, or a budget
    without room for one square per head.
    """
    source = source_ids.unsqueeze(0) if source_ids is not None and source_ids.dim() == 1 else source_ids
    if source is not None and len(source) != 1:
        raise ValueError(f"record shows one sentence, source_ids holds {len(source)}: give one row")
    settings |= dict(start_id=start_id, end_id=end_id)
    first = {name: given for name, given in settings.items() if name not in LogitsProcessors.__dataclass_fields__}
    prompt = generate(model, source, max_new_tokens=0, **first)
    how: dict[str, Any] = dict(max_new_tokens=max_new_tokens, generator=generator, trace=True)
    watched = CacheTracingStrategy(strategy)
    ids, steps = generate(model, source, watched, **how, **settings)
    trace = trace_json(steps, prompt[0].tolist(), strategy, token=token, title=title, top_logprobs=top_logprobs)
    for event, cache in zip(trace["steps"], watched.states, strict=True):
        event |= {"cache": cache} if cache else {}
    if isinstance(model, nn.Module):
        add_attention(trace, model, source, ids, source_token or token, budget)
    return trace


def add_attention(
    trace: dict[str, Any], model: nn.Module, source: Tensor | None, ids: Tensor, names: TokenNames, budget: int
) -> None:
    """Puts the source's tokens, and attention over ids [1,T] in the bytes that the trace leaves, into the trace."""
    source = None if is_causal(model) else source
    if source is not None:
        trace["source"] = [token_name(names, i) for i in source[0].tolist()]
    with evaluating(model):
        room = budget - len(json.dumps(trace | {"attention": ""}))
        trace["attention"] = attention(model, source, ids, max(budget // 4, room))


def trace_json(
    steps: Iterable[Step],
    prompt_ids: Sequence[int],
    strategy: Strategy,
    *,
    token: TokenNames,
    title: str = "",
    top_logprobs: int = 8,
) -> dict[str, Any]:
    """The steps of one sentence's search (`B = 1`) as a trace, without source and attention."""
    tree = Tree(strategy, token, top_logprobs, prompt_ids[-1])
    for step in steps:
        tree.add(step)
    best = tree.best()
    return {
        "schema": "tfkit.trace/1",
        "kind": "decoding",
        "strategy": strategy.name,
        "settings": _settings(strategy),
        "title": title,
        "source": None,
        "prompt": [token_name(token, i) for i in prompt_ids],
        "nodes": tree.nodes,
        "steps": tree.steps,
        "best": best,
        "path": tree.path(best),
    }


def _settings(strategy: Strategy) -> dict[str, Any]:
    """The settings of a strategy as JSON values; a model is shown by its name."""
    if not is_dataclass(strategy):
        return {}
    given = {field.name: getattr(strategy, field.name) for field in fields(strategy)}
    return {
        name: value
        if isinstance(value, bool | int | float | str | None)
        else _settings(value) | {"name": value.name}
        if is_dataclass(value)
        else type(value).__name__
        for name, value in given.items()
    }
