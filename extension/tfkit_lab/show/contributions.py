"""What each attention and each feed-forward layer adds to the logit of a token: direct logit attribution."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from tfkit.inside import logit_contributions
from tfkit_lab.pictures import Picture, table
from tfkit_lab.widgets import STATIC

_LAYER = re.compile(r"(?:.*\.)?\d+(?=\.)")  # of layers.3.attn the part before the last name


def contributions(
    model: nn.Module | Tensor, input_ids: Tensor | None = None, *, names: Sequence[str] = (), position: int = -1,
    targets: Tensor | None = None, token: Callable[[int], str] = str,
    title: str = "What raised the logit of this token?", measure: str = "logit", **inputs: Any,
) -> Contributions:  # fmt: skip
    """model: one with a language-model head, of any architecture (`tfkit.inside.logit_contributions` reads it), or
    your values, [parts] or [parts, targets], with their names: "input", "head 1.0", "feed-forward 1", paths …
    input_ids: one text [L] or [1,L]. position: whose prediction is explained. targets: ids int64 [K]; by default the
    four most likely. token: id -> its name. Raises ValueError if sizes differ."""
    if isinstance(model, Tensor):
        values = model.detach().reshape(len(model), -1)
        goals = [str(n) for n in range(values.size(1))] if targets is None else [token(n) for n in targets.tolist()]
        shares: list[float | None] = [None] * len(goals)
        parts = list(names)
    else:
        given = inputs | ({} if input_ids is None else {"input_ids": input_ids.reshape(1, -1)})
        parts, values, targets, p = _read(model, targets, position, given)
        goals, shares = [token(n) for n in targets.tolist()], list(p)
    if [len(parts), len(goals)] != list(values.shape):
        raise ValueError(f"values is {list(values.shape)}, with {len(parts)} names and {len(goals)} targets")
    small = 1e-6 * float(values.abs().max())  # smaller values are rounding errors
    kept = [[float(f"{one:.4g}") if abs(one) > small else 0.0 for one in row] for row in values.double().tolist()]
    head = {"schema": "tfkit.trace/1", "kind": "contributions", "title": title, "measure": measure}
    named = [{"name": name, "type": type_of(name), "group": group_of(name)} for name in parts]
    aims = [{"token": goal, "p": share} for goal, share in zip(goals, shares, strict=True)]
    return Contributions({**head, "parts": named, "targets": aims, "values": kept})


def _read(
    model: nn.Module, targets: Tensor | None, position: int, inputs: dict[str, Any]
) -> tuple[list[str], Tensor, Tensor, list[float]]:
    """Parts, values [parts, targets], the targets, and their probabilities."""
    was = model.training
    model.eval()
    try:
        with torch.enable_grad():
            shares = model(**inputs)["logits"][0, position].detach().double().softmax(-1)
            goals = shares.topk(4).indices if targets is None else targets
            parts, values = logit_contributions(model, goals, position, **inputs)
    finally:
        model.train(was)
    return parts, values, goals, [float(f"{one:.3g}") for one in shares[goals].tolist()]


def type_of(name: str) -> str:
    """The type of a part, by its name."""
    if name in ("input", "embeddings", "rest"):
        return "rest" if name == "rest" else "input"
    last = name.rpartition(".")[2] if _LAYER.match(name) and "head" not in name else name
    if re.search(r"attn|attention|head", last):
        return "attention"
    return "feed-forward" if re.search(r"ff|feed.?forward|mlp|moe", last) else "block"


def group_of(name: str) -> str:
    """The layer that a part belongs to: of "layers.3.attn" `layers.3`, of "head 1.0" and "feed-forward 1" 1."""
    if match := _LAYER.match(name):
        return match[0] if " " not in name else match[0].split()[-1]
    found = re.search(r"\d+", name)
    return found[0] if found else ""


class Contributions(Picture):
    """A bar for each part of the residual stream."""

    _esm = script = STATIC / "contributions.js"

    def body(self) -> str:
        """A table of the parts and their contributions to the chosen token's logit, with bars."""
        target = min(self.place.get("target", 0), len(self.trace["targets"]) - 1)
        found = [row[target] for row in self.trace["values"]]
        most = max(map(abs, found)) or 1
        lines = [
            (
                part["name"],
                value,
                "▮" * round(20 * abs(value) / most) if value > 0 else "▯" * round(20 * abs(value) / most),
            )
            for part, value in zip(self.trace["parts"], found, strict=True)
        ]
        goal = self.trace["targets"][target]["token"]
        return table(
            ("part", f"{self.trace['measure']} of {goal}", "▮ for, ▯ against"), [*lines, ("sum", sum(found), "")]
        )


VIEW = Contributions
