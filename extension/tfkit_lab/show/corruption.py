"""The inputs and targets that an objective makes of a sentence, drawn several times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from tfkit.objectives._base import Objective
from tfkit_lab.figure import bidi_isolate
from tfkit_lab.pictures import Picture, table
from tfkit_lab.widgets import STATIC

Name = Callable[[int], str | None]


def corruption(
    objectives: Mapping[str, Objective],
    ids: Tensor,
    token: Name,
    *,
    special: Tensor | None = None,
    draws: int = 6,
    seed: int = 0,
    title: str = "What is to be learned",
) -> Corruption:
    """ids int64 [L]: a sentence; special bool [L]: tokens that must not be changed; each objective draws `draws` times,
    so that the view can show another draw. Raises ValueError for a batch or for no objective."""
    if ids.dim() != 1 or not objectives:
        raise ValueError(f"give one sentence, ids [L], and an objective at least; ids has shape {list(ids.shape)}")
    name = lambda i: token(i) or f"#{i}"
    generator = torch.Generator().manual_seed(seed)
    batch = {"input_ids": ids[None], "attention_mask": torch.ones_like(ids)[None]}
    if special is not None:
        batch["special_tokens_mask"] = special[None].long()
    drawn = [
        {"name": title, "draws": [describe_corruption(objective(batch, generator), ids, name) for _ in range(draws)]}
        for title, objective in objectives.items()
    ]
    words = [name(i) for i in ids.tolist()]
    head = {"schema": "tfkit.trace/1", "kind": "corruption", "title": title}
    return Corruption({**head, "tokens": words, "objectives": drawn})


def describe_corruption(made: Mapping[str, Tensor], ids: Tensor, name: Name) -> dict[str, Any]:
    """Inputs and targets, token by token; null: not scored. `changed`: whether the input differs from the text."""
    inputs, labels = made["input_ids"][0], made["labels"][0]
    if "target_mapping" in made:  # targets in another order: put at their positions
        where = made["target_mapping"][0].argmax(-1)
        own = torch.full_like(inputs, -100)
        labels = own.scatter(0, where, labels)
    aligned = len(inputs) == len(ids)
    changed = (inputs != ids).tolist() if aligned else (~torch.isin(inputs, ids)).tolist()
    return {
        "inputs": [name(i) for i in inputs.tolist()],
        "changed": changed,
        "labels": [None if i == -100 else name(i) for i in labels.tolist()],
        "aligned": aligned and len(labels) == len(inputs),
    }


class Corruption(Picture):
    """The inputs and targets of objectives for one sentence."""

    _esm = script = STATIC / "corruption.js"

    def body(self) -> str:
        """One draw of each objective, inputs beside targets."""
        at = self.place.get("draw", 0)
        drawn = [(one["name"], one["draws"][at % len(one["draws"])]) for one in self.trace["objectives"]]
        text = lambda tokens: " ".join(bidi_isolate(token) for token in tokens if token is not None)
        lines = [(name, text(draw["inputs"]), text(draw["labels"])) for name, draw in drawn]
        return table(("objective", "goes in", "to be written"), [("the text", text(self.trace["tokens"]), ""), *lines])


VIEW = Corruption
