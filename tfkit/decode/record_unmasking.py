"""Records how a text is filled in, as a trace that the stepper draws: each token stands where it was filled in."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from tfkit.decode.tree import TokenNames, token_name
from tfkit.decode.unmasking import UnmaskingStep, mask_of, unmask


def record_unmasking(
    model: Any,
    input_ids: Tensor,
    *,
    token: TokenNames,
    max_new_tokens: int = 0,
    mask_id: int | None = None,
    title: str = "",
    top_logprobs: int = 8,
    **settings: Any,
) -> dict[str, Any]:
    """Fill in one text and record it as a dict for `json.dumps`, in the form that `record` has.

    input_ids [T] or [1,T], with masks; `token(id)` names an id; top_logprobs: how many of the likeliest tokens to keep;
    settings: as in `unmask`. The trace has a step for each token: those that the search fills in at once come one after
    the other, the surest first. Raises ValueError for more than one text, or an empty
    one.
    """
    ids = input_ids.unsqueeze(0) if input_ids.dim() == 1 else input_ids
    if len(ids) != 1:
        raise ValueError(f"record_unmasking shows one text, input_ids holds {len(ids)}: give one row")
    if not ids.size(1):
        raise ValueError("record_unmasking got no tokens: give a prompt, or the id of the beginning alone")
    mask_id = mask_of(model) if mask_id is None else mask_id
    made: list[UnmaskingStep] = []
    unmask(model, ids, max_new_tokens=max_new_tokens, mask_id=mask_id, on_step=made.append, **settings)
    text = made[0].ids.masked_fill(made[0].filled, mask_id) if made else ids  # with new tokens, and padding moved
    prompt = text[0].tolist()
    nodes = [describe_node(0, prompt[-1], token)]
    steps = [event for step in made for event in describe_step(step, nodes, token, top_logprobs)]
    return {
        "schema": "tfkit.trace/1",
        "kind": "decoding",
        "strategy": "unmasking",
        "settings": {name: given for name, given in settings.items() if isinstance(given, bool | int | float | str)},
        "title": title,
        "source": None,
        "prompt": [token_name(token, i) for i in prompt],
        "nodes": nodes,
        "steps": steps,
        "best": len(nodes) - 1,
        "path": list(range(len(nodes))),
    }


def describe_node(
    index: int, token_id: int, token: TokenNames, logp: float = 0.0, total: float = 0.0
) -> dict[str, Any]:
    """The node of a trace; each continues the one before it."""
    name = token_name(token, token_id)
    figures = {"logp": logp, "score": total, "state": "live"}
    return {"id": index, "parent": index - 1, "step": index, "token": name, "token_id": token_id, **figures}


def describe_step(
    step: UnmaskingStep, nodes: list[dict[str, Any]], token: TokenNames, top_logprobs: int
) -> list[dict[str, Any]]:
    """The steps of a trace, one for each token that was filled in; their nodes are appended to `nodes`."""
    places = step.filled[0].nonzero().flatten().tolist()
    found = []
    for place in sorted(places, key=lambda place: -float(step.confidence[0, place])):
        probabilities = step.probabilities[0, place].double()
        before = nodes[-1]
        logp = math.log(max(float(step.confidence[0, place]), 1e-300))
        node = describe_node(len(nodes), int(step.ids[0, place]), token, logp, before["score"] + logp)
        nodes.append({**node, "place": place})
        top = torch.topk(probabilities, min(top_logprobs, len(probabilities)))
        likeliest = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        at = str(before["id"])
        found.append({
            "live": [before["id"]], "chosen": [node["id"]], "finished": [],
            "topk": {at: [[token_name(token, i), i, p] for i, p in likeliest]},
            "entropy": {at: max(0.0, float(torch.special.entr(probabilities).sum()))},
        })  # fmt: skip
    return found
