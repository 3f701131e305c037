"""A decoding run as plain JSON: the tree of hypotheses, the likeliest tokens, and where the model looked.

The form is `tfkit.trace/1`, which `tfkit_lab.Stepper` draws. Node 0 is the last token of the prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tfkit.decode.decoders import is_causal
from tfkit.decode.generate import evaluating, generate
from tfkit.decode.maps import attention
from tfkit.decode.rules import Rules
from tfkit.decode.search import Step, Strategy
from tfkit.decode.strategies import GREEDY

TokenNames = Callable[[int], str | None]


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
    top: int = 8,
    source_token: TokenNames | None = None,
    generator: torch.Generator | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Decode one sentence and keep everything there is to see of it, as a dict that `json.dumps` takes.

    `model`: a tfkit encoder-decoder or a decoder alone (source_ids are its prompt, and the trace has no source), one
    with `encode(src)` and `decode(tgt_in, memory, src)`, or a function `step(prefix_ids[N,t]) -> logits[N,V]` (then
    without attention). source_ids [1,S] or [S]. `token(id)` names an id, `source_token` those of the source where its
    vocabulary is another. `top`: how many likeliest tokens to keep. settings: as `generate` takes them.
    Raises ValueError for more than one sentence.
    """
    source = source_ids.unsqueeze(0) if source_ids is not None and source_ids.dim() == 1 else source_ids
    if source is not None and len(source) != 1:
        raise ValueError(f"record shows one sentence, source_ids holds {len(source)}: give one row")
    settings |= dict(start_id=start_id, end_id=end_id)
    first = {name: given for name, given in settings.items() if name not in Rules.__dataclass_fields__}
    prompt = generate(model, source, max_new_tokens=0, **first)
    how: dict[str, Any] = dict(max_new_tokens=max_new_tokens, generator=generator, trace=True)
    ids, steps = generate(model, source, strategy, **how, **settings)
    trace = trace_json(steps, prompt[0].tolist(), strategy, token=token, title=title, top=top)
    if isinstance(model, nn.Module):
        source = None if is_causal(model) else source
        if source is not None:
            trace["source"] = [_name(source_token or token, i) for i in source[0].tolist()]
        with evaluating(model):
            trace["attention"] = attention(model, source, ids)
    return trace


def trace_json(
    steps: Iterable[Step],
    prompt_ids: Sequence[int],
    strategy: Strategy,
    *,
    token: TokenNames,
    title: str = "",
    top: int = 8,
) -> dict[str, Any]:
    """The events of one sentence's search (`B = 1`) as a trace, without source and attention."""
    tree = _Tree(strategy, token, top, prompt_ids[-1])
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
        "prompt": [_name(token, i) for i in prompt_ids],
        "nodes": tree.nodes,
        "steps": tree.steps,
        "best": best,
        "path": tree.path(best),
    }


class _Tree:
    """Nodes and steps of a trace, grown event by event."""

    def __init__(self, strategy: Strategy, token: TokenNames, top: int, root_id: int) -> None:
        self.strategy, self.token, self.top = strategy, token, top
        self.nodes: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.totals = [0.0]  # of each node, the sum of log-probabilities
        self.places = [self.node(-1, root_id, 0.0, 0.0, "live")]  # node id of each of the model's rows

    def node(self, parent: int, token_id: int, logp: float, score: float, state: str) -> int:
        step = self.nodes[parent]["step"] + 1 if parent >= 0 else 0
        name = _name(self.token, token_id)
        self.nodes.append(
            dict(
                id=len(self.nodes), parent=parent, step=step, token=name, token_id=token_id,
                logp=logp, score=score, state=state,
            )
        )  # fmt: skip
        return len(self.nodes) - 1

    def add(self, step: Step) -> None:
        if step.totals.size(1) > len(self.places):  # groups of hypotheses that all start from one
            self.places *= step.totals.size(1)
        alive = [place for place, total in enumerate(step.totals[0].tolist()) if total > -torch.inf]
        event: dict[str, Any] = dict(
            live=list(dict.fromkeys(self.places[p] for p in alive)), chosen=[], finished=[], topk={}, entropy={}
        )
        for place in alive:
            self.likeliest(event, str(self.places[place]), step.log_probs[0, place])
        before, places = self.places, step.live[0].tolist()
        columns = [part[0].tolist() for part in (step.parent, step.token, step.total, step.ended)]
        grown: dict[int, int] = {}  # candidate -> node
        for rank, (parent, token, total, ended) in enumerate(zip(*columns, strict=True)):
            if total == -torch.inf:  # no continuation: an ended hypothesis' place, or a token that cannot be
                continue
            state = "finished" if ended else "live" if rank in places else "dropped"
            grown[rank] = self.child(before[parent], token, step.log_probs[0, parent, token].item(), state)
            if state != "dropped":
                event["chosen" if state == "live" else "finished"].append(grown[rank])
        self.places = [grown.get(rank, before[columns[0][rank]]) for rank in places]
        self.steps.append(event)

    def child(self, parent: int, token: int, logp: float, state: str) -> int:
        self.totals.append(self.totals[parent] + logp)
        return self.node(parent, token, logp, self.strategy.score(self.totals[-1], len(self.steps) + 1), state)

    def likeliest(self, event: dict[str, Any], name: str, log_probs: Tensor) -> None:
        probs = log_probs.exp()
        best = probs.topk(min(self.top, len(probs)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        event["topk"][name] = [[_name(self.token, i), i, min(p, 1.0)] for i, p in pairs]
        event["entropy"][name] = max(0.0, -torch.xlogy(probs, probs).sum().item())

    def best(self) -> int:
        """The best leaf: finished, or unfinished at the last step."""
        last = self.steps[-1]["chosen"] if self.steps else [0]
        leaves = [n["id"] for n in self.nodes if n["state"] == "finished"] + last
        return max(leaves, key=lambda i: self.nodes[i]["score"])

    def path(self, node: int) -> list[int]:
        chain = []
        while node >= 0:
            chain.append(node)
            node = self.nodes[node]["parent"]
        return chain[::-1]


def _settings(strategy: Strategy) -> dict[str, Any]:
    """What it was told, as JSON takes it; of a model the name."""
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


def _name(token: TokenNames, i: int) -> str:
    name = token(i)
    return f"#{i}" if name is None else name
