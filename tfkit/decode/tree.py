"""The tree of hypotheses, built step by step: the nodes and steps of a trace."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tfkit.decode.search import Draft, Step, Strategy

TokenNames = Callable[[int], str | None]


def token_name(token: TokenNames, i: int) -> str:
    """A token's name, or its id if it has none."""
    name = token(i)
    return f"#{i}" if name is None else name


class Tree:
    """The nodes and steps of a trace, built step by step."""

    def __init__(self, strategy: Strategy, token: TokenNames, top_logprobs: int, root_id: int) -> None:
        self.strategy, self.token, self.top_logprobs = strategy, token, top_logprobs
        self.stages = getattr(getattr(strategy, "base", strategy), "stages", None)  # None unless it samples
        self.draft: Draft | None = None
        self.nodes: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.totals = [0.0]  # of each node, the sum of log-probabilities
        self.row_nodes = [self.node(-1, root_id, 0.0, 0.0, "live")]  # node id of each of the model's rows

    def node(self, parent: int, token_id: int, logp: float, score: float, state: str) -> int:
        """Adds a node below `parent` (-1 for the root) -> its id"""
        step = self.nodes[parent]["step"] + 1 if parent >= 0 else 0
        name = token_name(self.token, token_id)
        self.nodes.append(
            dict(
                id=len(self.nodes), parent=parent, step=step, token=name, token_id=token_id,
                logp=logp, score=score, state=state,
            )
        )  # fmt: skip
        return len(self.nodes) - 1

    def add(self, step: Step) -> None:
        """One step: the likeliest tokens of each live hypothesis, the choice, and the new nodes."""
        if step.totals.size(1) > len(self.row_nodes):  # all groups start from one hypothesis
            self.row_nodes *= step.totals.size(1)
        alive = [row for row, total in enumerate(step.totals[0].tolist()) if total > -torch.inf]
        event: dict[str, Any] = dict(
            live=list(dict.fromkeys(self.row_nodes[p] for p in alive)), chosen=[], finished=[], topk={}, entropy={}
        )
        for row in alive:
            self.add_top_tokens(event, str(self.row_nodes[row]), step.log_probs[0, row])
        self.explain(event, step)
        before, live_ranks = self.row_nodes, step.live[0].tolist()
        columns = [part[0].tolist() for part in (step.parent, step.token, step.total, step.ended)]
        grown: dict[int, int] = {}  # candidate -> node
        for rank, (parent, token, total, ended) in enumerate(zip(*columns, strict=True)):
            if total == -torch.inf:  # no continuation: the place of an ended hypothesis, or an impossible token
                continue
            extras = {name: value[0, rank].item() for name, value in step.extras.items()}
            state = "finished" if ended else "live" if rank in live_ranks else "dropped"
            grown[rank] = self.child(before[parent], token, step.log_probs[0, parent, token].item(), state, extras)
            if state != "dropped":
                event["chosen" if state == "live" else "finished"].append(grown[rank])
        self.row_nodes = [grown.get(rank, before[columns[0][rank]]) for rank in live_ranks]
        self.steps.append(event)

    def child(self, parent: int, token: int, logp: float, state: str, extras: dict[str, float]) -> int:
        """A node with its score and the figures in `extras` (those that are not finite are left out) -> its id"""
        self.totals.append(self.totals[parent] + logp)
        made = self.node(parent, token, logp, self.strategy.score(self.totals[-1], len(self.steps) + 1), state)
        if extras := {name: value for name, value in extras.items() if math.isfinite(value)}:
            self.nodes[made]["told"] = extras
        return made

    def explain(self, event: dict[str, Any], step: Step) -> None:
        """Adds the stages of sampling, and the tokens that a draft model proposed."""
        if self.stages is not None:
            pairs = zip(event["topk"].items(), step.scores[0], strict=False)
            event["stages"] = {name: list(map(self.stage(best), self.stages(row))) for (name, best), row in pairs}
        if step.draft is not None:
            place = self.steps[-1]["draft"]["place"] + 1 if step.draft is self.draft else 0
            event["draft"] = {"place": place, "draft_tokens": self.draft_tokens(step.draft)}
        self.draft = step.draft

    def stage(self, best: list[list[Any]]) -> Callable[[tuple[str, Tensor]], dict[str, Any]]:
        """(name, scores [V]) -> how many tokens are left after this stage, and the probabilities of the likeliest"""

        def describe(named_scores: tuple[str, Tensor]) -> dict[str, Any]:
            """The stage as JSON; tokens that were cut have probability 0 and are not counted as left."""
            name, scores = named_scores
            probs = scores.double().softmax(-1)
            return {"name": name, "left": int((probs > 0).sum()), "p": [probs[i].item() for _, i, _ in best]}

        return describe

    def draft_tokens(self, draft: Draft) -> list[dict[str, Any]]:
        """A round of speculative decoding, token by token: the model's p, the draft's q, and whether it was
        accepted."""
        count = len(draft.tokens)
        states = [*["kept"] * draft.n_accepted, "refused", *["unread"] * count][:count]
        columns = (part.tolist() for part in (draft.tokens, draft.target_probs, draft.draft_probs))
        return [
            {"token": token_name(self.token, i), "token_id": i, "p": min(p, 1.0), "q": min(q, 1.0), "state": state}
            for state, i, p, q in zip(states, *columns, strict=True)
        ]

    def add_top_tokens(self, event: dict[str, Any], name: str, log_probs: Tensor) -> None:
        """Puts the `top_logprobs` tokens of log_probs [V] and their entropy in nats into the event under `name`."""
        probs = log_probs.exp()
        best = probs.topk(min(self.top_logprobs, len(probs)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        event["topk"][name] = [[token_name(self.token, i), i, min(p, 1.0)] for i, p in pairs]
        event["entropy"][name] = max(0.0, -torch.xlogy(probs, probs).sum().item())

    def best(self) -> int:
        """The best leaf: finished, or unfinished after the last step."""
        last = self.steps[-1]["chosen"] if self.steps else [0]
        leaves: list[int] = [n["id"] for n in self.nodes if n["state"] == "finished"] + last
        return max(leaves, key=lambda node: float(self.nodes[node]["score"]))

    def path(self, node: int) -> list[int]:
        """Ids from the root to `node`."""
        chain = []
        while node >= 0:
            chain.append(node)
            node = self.nodes[node]["parent"]
        return chain[::-1]
