"""A decoding run as plain JSON: the tree of hypotheses, the likeliest tokens, and where the model looked.

The form is `tfkit.trace/1`, which `tfkit_lab.Stepper` draws. Node 0 is the last token of the prompt.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tfkit import tracing
from tfkit.decode.decoders import decoder_for, is_ours
from tfkit.decode.generate import evaluating, special_ids
from tfkit.decode.search import Step, search
from tfkit.decode.strategies import GREEDY, Strategy

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
) -> dict[str, Any]:
    """Decode one sentence and keep everything there is to see of it, as a dict that `json.dumps` takes.

    `model`: a tfkit encoder-decoder, one with `encode(src)` and `decode(tgt_in, memory, src)`, or a function
    `step(prefix_ids[N,t]) -> logits[N,V]` (then without attention). source_ids [1,S] or [S]. `token(id)` names an id,
    `source_token` those of the source where its vocabulary is another. `top`: how many likeliest tokens to keep.
    Raises ValueError for more than one sentence.
    """
    source = source_ids.unsqueeze(0) if source_ids is not None and source_ids.dim() == 1 else source_ids
    if source is not None and len(source) != 1:
        raise ValueError(f"record shows one sentence, source_ids holds {len(source)}: give one row")
    start, end, _ = special_ids(model, start_id, end_id, None)
    prompt = torch.tensor([[start]], device=None if source is None else source.device)
    with evaluating(model):
        steps = list(search(decoder_for(model, source), prompt, strategy, end, max_new_tokens, generator))
        trace = trace_json(steps, [start], strategy, token=token, title=title, top=top)
        if source is not None and isinstance(model, nn.Module):
            path = [trace["nodes"][i]["token_id"] for i in trace["path"]]
            trace["source"] = [_name(source_token or token, i) for i in source[0].tolist()]
            trace["attention"] = attention(model, source, torch.tensor([path], device=source.device))
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
        "settings": asdict(strategy) if is_dataclass(strategy) and not isinstance(strategy, type) else {},
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
        alive = [place for place, total in enumerate(step.totals[0].tolist()) if total > -torch.inf]
        event: dict[str, Any] = dict(live=[self.places[p] for p in alive], chosen=[], finished=[], topk={}, entropy={})
        for place in alive:
            self.likeliest(event, str(self.places[place]), step.log_probs[0, place])
        before, self.places = self.places, []
        columns = [part[0].tolist() for part in (step.parent, step.token, step.total, step.ended)]
        for rank, (parent, token, total, ended) in enumerate(zip(*columns, strict=True)):
            kept = rank < step.kept
            if total == -torch.inf:  # no continuation: an ended hypothesis' place, or a token that cannot be
                self.places += [before[parent]] if kept else []
                continue
            state = "dropped" if not kept else "finished" if ended else "live"
            score = self.strategy.score(total, len(self.steps) + 1)
            node = self.node(before[parent], token, step.log_probs[0, parent, token].item(), score, state)
            if kept:
                self.places.append(node)
                event["finished" if ended else "chosen"].append(node)
        self.steps.append(event)

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


def _name(token: TokenNames, i: int) -> str:
    name = token(i)
    return f"#{i}" if name is None else name


def attention(model: nn.Module, source: Tensor, ids: Tensor) -> dict[str, Any]:
    """Packed maps `self` and `cross` of one forward over `ids` [1,T], those that the model shows; often both.

    A tfkit model is traced; of another, submodules that return `(output, weights [1,H,Q,K])` are listened to: those
    with "cross" in their name look at the source.
    """
    seen = _traced(model, source, ids) if is_ours(model) else _heard(model, source, ids)
    crossing = lambda name: "self" not in name if is_ours(model) else "cross" in name
    kinds = {
        "self": [maps for name, maps in seen.items() if not crossing(name)],
        "cross": [maps for name, maps in seen.items() if crossing(name)],
    }
    return {kind: pack(torch.cat(maps), triangle=kind == "self") for kind, maps in kinds.items() if maps}


def _traced(model: Any, source: Tensor, ids: Tensor) -> dict[str, Tensor]:
    encoded = model.encode(source)
    with tracing.trace(model, keep=("*weights",)) as seen:
        model(decoder_input_ids=ids, encoder_outputs=encoded)
    return {name: torch.cat(seen.all(name), dim=-2) for name in seen}  # a recurrent decoder looks once a step


def _heard(model: Any, source: Tensor, ids: Tensor) -> dict[str, Tensor]:
    seen: dict[str, Tensor] = {}

    def listen(name: str) -> Callable:
        def hook(_module: nn.Module, _args: Any, out: Any) -> None:
            if isinstance(out, tuple) and len(out) == 2 and isinstance(out[1], Tensor) and out[1].dim() == 4:
                seen[name] = out[1].detach()

        return hook

    memory = model.encode(source)
    handles = [module.register_forward_hook(listen(name)) for name, module in model.named_modules()]
    try:
        model.decode(ids, memory, source)
    finally:
        for handle in handles:
            handle.remove()
    return seen


def pack(weights: Tensor, triangle: bool) -> dict[str, Any]:
    """weights [L,H,Q,K] -> bytes round(255 p), deflated, base64; `triangle`: only the lower one, diagonal included."""
    layers, heads, rows, cols = weights.shape
    levels = (weights.float() * 255).round().clamp(0, 255).to(torch.uint8).cpu()
    if triangle:
        row, col = torch.tril_indices(rows, cols)
        levels = levels[:, :, row, col]
    data = base64.b64encode(zlib.compress(levels.contiguous().numpy().tobytes(), 9)).decode()
    return dict(layers=layers, heads=heads, rows=rows, cols=cols, triangle=triangle, data=data)
