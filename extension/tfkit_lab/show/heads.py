"""A number for each head of each layer: the effect of patching or ablating it, or a score."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from tfkit.decode.generate import evaluating
from tfkit.inside import ablate_heads, patch_heads
from tfkit_lab.pictures import Picture
from tfkit_lab.widgets import STATIC

Score = Callable[[Any], Tensor]
_CELL = "padding:2px 6px;border:1px solid #999;text-align:right;font-weight:400"


def heads(
    values: Tensor, layers: Sequence[str] = (), columns: Sequence[str] = (), *, title: str = "Heads",
    measure: str = "score", axes: tuple[str, str] = ("layer", "head"),
) -> Heads:  # fmt: skip
    """values: [layers, heads], your measurements; NaN if a layer has no such head. layers, columns: names
    (default: numbers); measure: the quantity shown; axes: the names of the sides, such as ("layer", "position").
    Raises ValueError if sizes differ."""
    if values.dim() != 2 or not values.numel():
        raise ValueError(f"values has shape {list(values.shape)}: they are [layers, heads]")
    rows, across = values.shape
    names = [list(layers) or [f"{axes[0]} {n}" for n in range(rows)], list(columns) or [str(n) for n in range(across)]]
    if [len(names[0]), len(names[1])] != [rows, across]:
        raise ValueError(f"values is [{rows}, {across}], with {len(names[0])} and {len(names[1])} names")
    kept = [[float(f"{one:.4g}") if one == one else None for one in row] for row in values.detach().double().tolist()]
    head = {"schema": "tfkit.trace/1", "kind": "heads", "title": title, "layers": names[0], "columns": names[1]}
    scale = "signed" if bool((values.detach().nan_to_num(0.0) < 0).any()) else "shares"
    return Heads({**head, "axes": list(axes), "measure": measure, "scale": scale, "values": kept})


def patching(
    model: nn.Module, clean: Mapping[str, Any], corrupted: Mapping[str, Any], score: Score, *,
    title: str = "Patching, head by head",
) -> Heads:  # fmt: skip
    """Activation patching (`tfkit.inside.patch_heads`): the model reads the corrupted inputs, and one head at a time
    gets its values from the clean ones. 1 restores the whole difference of the scores, 0 nothing."""
    with evaluating(model):
        paths, shares = patch_heads(model, clean, corrupted, score)
    return _signed(heads(shares, short_names(paths), title=title, measure="share of the difference that is restored"))


def ablation(model: nn.Module, score: Score, *, title: str = "Each head silenced", **inputs: Any) -> Heads:
    """Ablation (`tfkit.inside.ablate_heads`): how much the score falls if the output of one head is zero."""
    with evaluating(model):
        paths, falls = ablate_heads(model, score, **inputs)
    return _signed(heads(falls, short_names(paths), title=title, measure="fall of the score without the head"))


def short_names(paths: Sequence[str]) -> list[str]:
    """`layer 3` for layers.3.attn if all are from one stack; otherwise the unchanged paths."""
    found = [re.fullmatch(r"layers\.(\d+)\.\w+", path) for path in paths]
    numbers = [match[1] for match in found if match]
    return [f"layer {n}" for n in numbers] if len({*numbers}) == len(paths) else list(paths)


def _signed(picture: Heads) -> Heads:
    """The picture, on a diverging scale, as effects may be positive or negative."""
    picture.trace = {**picture.trace, "scale": "signed"}
    return picture


class Heads(Picture):
    """Layers down, heads across, a number in each cell."""

    _esm = script = STATIC / "heads.js"

    def body(self) -> str:
        """A table of all numbers, coloured."""
        most = max((abs(one) for row in self.trace["values"] for one in row if one is not None), default=0) or 1
        down, across = self.trace["axes"]
        top = "".join(f'<th style="{_CELL}">{html.escape(name)}</th>' for name in self.trace["columns"])
        rows = "".join(
            f'<tr><th style="{_CELL}">{html.escape(name)}</th>{"".join(_td(one, most) for one in row)}</tr>'
            for name, row in zip(self.trace["layers"], self.trace["values"], strict=True)
        )
        corner = f'<th style="{_CELL}">{html.escape(down)} \\ {html.escape(across)}</th>'
        caption = f"<p>{html.escape(self.trace['measure'])}</p>"
        return f'{caption}<table style="border-collapse:collapse"><tr>{corner}{top}</tr>{rows}</table>'


def _td(value: float | None, most: float) -> str:
    if value is None:
        return f'<td style="{_CELL}"></td>'
    tone = "163,71,0" if value < 0 else "21,101,192"
    return f'<td style="{_CELL};background:rgba({tone},{0.6 * abs(value) / most:.2f})">{value:.2f}</td>'


VIEW = Heads
