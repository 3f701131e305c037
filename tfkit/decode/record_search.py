"""Records a search that somebody else wrote, from its calls of `step` and from its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from tfkit.decode.record import BUDGET, add_attention
from tfkit.decode.strategies import GREEDY
from tfkit.decode.tree import TokenNames, Tree, token_name

Ids = tuple[int, ...]
StepFunction = Callable[[Tensor], Tensor]


def record_search(
    search: Callable[[StepFunction], Any],
    step: StepFunction,
    *,
    token: TokenNames,
    end_id: int | None = None,
    title: str = "",
    name: str = "your search",
    top_logprobs: int = 8,
    model: nn.Module | None = None,
    source_ids: Tensor | None = None,
    source_token: TokenNames | None = None,
    budget: int = BUDGET,
) -> dict[str, Any]:
    """Run `search(step)` and record it as `record` does, as far as its calls show it.

    `step(prefix_ids[N,t]) -> logits[N,V]`. The hypotheses of a step are the prefixes with which the search calls
    `step`; others that it considered are not visible, so none is shown as dropped. It returns ids `[T]` or `[1,T]`, or
    `(ids, score)` pairs, best first, each with the start of its first call; a hypothesis ends at `end_id`. `model` and
    source_ids `[1,S]`: to show the attention along the best hypothesis. Raises ValueError for a search of several
    sentences, and for one whose prefixes or results do not continue each other, such as one that passes its newest
    tokens alone.
    """
    logits_by_prefix: dict[Ids, Tensor] = {}

    def step_and_record(prefix_ids: Tensor) -> Tensor:
        """`step`, with its answers kept by prefix."""
        logits = step(prefix_ids)
        rows = logits.detach().double().log_softmax(-1).cpu()
        logits_by_prefix.update(zip(map(tuple, prefix_ids.tolist()), rows, strict=True))
        return logits

    with torch.no_grad():
        found = _hypotheses(search(step_and_record))
    tree = _SearchTree(logits_by_prefix, token, top_logprobs)
    results = [tree.finish(ids, score, end_id) for ids, score in found]
    best = results[0] if results else 0
    trace = tree.trace(name, title, [token_name(token, i) for i in tree.root], best)
    if model is not None:
        best_ids = [*tree.root, *(tree.nodes[node]["token_id"] for node in trace["path"][1:])]
        add_attention(trace, model, source_ids, torch.tensor([best_ids]), source_token or token, budget)
    return trace


def _hypotheses(found: Any) -> list[tuple[Ids, float | None]]:
    """What a search returns as (ids, its own score if it gives one), best first."""
    if isinstance(found, Tensor):
        rows = found.reshape(1, -1) if found.dim() < 2 else found
        if len(rows) != 1:
            raise ValueError(f"the search returned {len(rows)} sentences, but only one is shown: pass a single start")
        return [(tuple(rows[0].tolist()), None)]
    pairs = list(found)
    if all(isinstance(one, int) for one in pairs):
        return [(tuple(pairs), None)]
    return [(tuple(torch.as_tensor(ids).tolist()), float(score)) for ids, score in pairs]


class _SearchTree(Tree):
    """The tree of the prefixes with which `step` was called; all prefixes of one length form a step."""

    def __init__(self, logits_by_prefix: dict[Ids, Tensor], token: TokenNames, top_logprobs: int) -> None:
        if not logits_by_prefix:
            raise ValueError("the search never called step: nothing can be recorded")
        # prefixes of one length stay in the order of the calls
        self.answers = dict(sorted(logits_by_prefix.items(), key=lambda pair: len(pair[0])))
        self.root = next(iter(self.answers))
        super().__init__(GREEDY, token, top_logprobs, self.root[-1])
        self.node_ids: dict[Ids, int] = {self.root: 0}
        for prefix in self.answers:
            if prefix != self.root:
                self.continue_with(prefix, "live")

    def continue_with(self, prefix: Ids, state: str) -> int:
        """Adds a prefix's node below that of the prefix before -> its id. Raises ValueError if that was never passed to
        `step`."""
        before = self.answers.get(prefix[:-1])
        if before is None:
            raise ValueError(
                f"the search went on to {list(prefix)} without calling step for {list(prefix[:-1])}: record_search "
                "follows one sentence, and needs whole prefixes, the start included"
            )
        parent, logp = self.node_ids[prefix[:-1]], before[prefix[-1]].item()
        self.totals.append(self.totals[parent] + logp)
        self.node_ids[prefix] = self.node(parent, prefix[-1], logp, self.totals[-1], state)
        return self.node_ids[prefix]

    def finish(self, ids: Sequence[int], score: float | None, end_id: int | None) -> int:
        """The node of a result -> its id. What is behind the end is padding."""
        start = len(self.root)
        ends = [at + 1 for at, i in enumerate(ids) if at >= start and i == end_id]
        prefix = tuple(ids[: ends[0]] if ends else ids)
        if prefix in self.node_ids:
            node = self.node_ids[prefix]
        else:
            node = self.continue_with(prefix, "finished" if ends else "live")
        if score is not None:
            self.nodes[node]["score"] = score
        return node

    def trace(self, strategy: str, title: str, prompt: list[Any], best: int) -> dict[str, Any]:
        """The recording, as the stepper reads it; `best` is the node of the best result."""
        return {
            "schema": "tfkit.trace/1",
            "kind": "decoding",
            "strategy": strategy,
            "settings": {},
            "title": title,
            "source": None,
            "prompt": prompt,
            "nodes": self.nodes,
            "steps": self.events(),
            "best": best,
            "path": self.path(best),
        }

    def events(self) -> list[dict[str, Any]]:
        """The steps of the trace: of each length the prefixes, their likeliest tokens, and what they became."""
        found = []
        for length in sorted({len(prefix) for prefix in self.answers}):
            live = [prefix for prefix in self.answers if len(prefix) == length]
            after = [node for prefix, node in self.node_ids.items() if len(prefix) == length + 1]
            ended = [node for node in after if self.nodes[node]["state"] == "finished"]
            event: dict[str, Any] = {
                "live": [self.node_ids[prefix] for prefix in live],
                "chosen": [node for node in after if node not in ended],
                "finished": ended,
                "topk": {},
                "entropy": {},
            }
            for prefix in live:
                self.add_top_tokens(event, str(self.node_ids[prefix]), self.answers[prefix])
            found.append(event)
        return found
