"""Masks, position tables and other matrices, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tfkit.decode.attention_maps import compress
from tfkit.decode.generate import evaluating
from tfkit.nn.positions import apply_rotary, relative_bucket, sinusoidal_positions
from tfkit_lab.figure import Colour, picture, shares, sign_tones
from tfkit_lab.pictures import Picture
from tfkit_lab.trace import inflate
from tfkit_lab.widgets import STATIC

Maps = Mapping[str, Tensor]


def matrices(
    maps: Maps,
    rows: Sequence[str] = (),
    cols: Sequence[str] = (),
    title: str = "",
    axes: tuple[str, str] = ("row", "column"),
) -> Matrices:
    """maps: name -> [R,C], bool or numbers, of one shape or of several; rows, cols: names of both sides (default:
    numbers); axes: their titles. Values are rounded to 1/255 of their range."""
    packed = [pack(name, value) for name, value in maps.items()]
    if not packed:
        raise ValueError("there is no map to show")
    names = {"rows": list(rows), "cols": list(cols), "axes": list(axes)}
    return Matrices({"schema": "tfkit.trace/1", "kind": "matrices", "title": title, **names, "maps": packed})


def case(call: Callable[..., Any], /, **inputs: Any) -> Matrices:
    """One call, as matrices: every input and output tensor, with a map of the entries that are not finite. call: a
    function or a module, which is called with `inputs`."""
    with torch.no_grad():
        given = call(**inputs)
    outputs = given if isinstance(given, tuple | list) else (given,)
    named = dict(inputs) | {f"result[{i}]" if len(outputs) > 1 else "result": o for i, o in enumerate(outputs)}
    tensors = {name: value for name, value in named.items() if isinstance(value, Tensor)}
    maps = {place: part for name, value in tensors.items() for place, part in slices(name, value)}
    bad = {f"{name}: not finite": ~part.isfinite() for name, part in maps.items() if not part.isfinite().all()}
    finite = {name: part.nan_to_num(0.0, 0.0, 0.0) if part.is_floating_point() else part for name, part in maps.items()}
    return matrices({**finite, **bad}, title=getattr(call, "__name__", type(call).__name__))


def slices(name: str, value: Tensor, most: int = 6) -> list[tuple[str, Tensor]]:
    """The first few matrices of a tensor of any shape, each with its index; a vector is one row."""
    if not value.numel():
        return []
    whole = value.detach().reshape(1, -1) if value.dim() < 2 else value.detach()
    places = list(np.ndindex(*whole.shape[:-2]))[:most]
    named = [f"{name}[{', '.join(map(str, place))}]" for place in places] if len(places) > 1 else [name]
    return [(name, whole[place]) for name, place in zip(named, places, strict=True)]


def pack(name: str, value: Tensor) -> dict[str, Any]:
    """[R,C] -> bytes from low to high, deflated, base64. Leading dimensions of size one are dropped."""
    value = value.detach().cpu()
    while value.dim() > 2 and value.size(0) == 1:
        value = value.squeeze(0)
    if value.dim() != 2 or not value.numel():
        raise ValueError(f"{name} has shape {list(value.shape)}: a map must be [R,C] and not empty")
    if not bool(value.double().isfinite().all()):
        raise ValueError(f"{name} holds values that are not finite: pass a bool mask, or finite numbers")
    low, high = (0.0, 1.0) if value.dtype == torch.bool else (value.min().item(), value.max().item())
    span = (high - low) or 1.0
    levels = ((value.double() - low) / span * 255).round().to(torch.uint8)
    shape = {"rows": value.size(0), "cols": value.size(1), "low": float(low), "high": float(high)}
    return {"name": name, "kind": kind_of(value), **shape, "data": compress(levels)}


def kind_of(value: Tensor) -> str:
    """How a matrix is drawn: as bools, integers, or a scale, which is diverging if values have both signs."""
    if value.dtype == torch.bool:
        return "bool"
    if not value.is_floating_point() and value.unique().numel() <= 64:
        return "integer"
    return "signed" if bool((value < 0).any()) else "scale"


def flow(module: Callable[[Tensor], Any], x: Tensor) -> Tensor:
    """Which inputs affect which outputs: each position of x [L,E] (or ids [L]) is changed separately, and the outputs
    are compared bit by bit -> bool [L', L]. module: [B,L,E] or ids [B,L] -> [B,L',…], or a tuple that begins with
    it."""
    length = len(x)
    changed = x.repeat(length, *[1] * x.dim())
    place = torch.arange(length)
    changed[place, place] = x + 1 if x.is_floating_point() else (x + 1) % int(x.max() + 2)
    with evaluating(module):  # dropout would change everything
        before, after = first_tensor(module(x.repeat(length, *[1] * x.dim()))), first_tensor(module(changed))
    return (before != after).flatten(2).any(-1).T


def first_tensor(output: Any) -> Tensor:
    """The tensor in what a module returns."""
    if isinstance(output, Tensor):
        return output
    named = getattr(output, "logits", None)
    return output[0] if named is None else named


def masks(
    given: Maps, tokens: Sequence[str] = (), *, through: Callable[[Tensor], Any] | None = None, x: Tensor | None = None,
    title: str = "Masks",
) -> Matrices:  # fmt: skip
    """Boolean masks (True: may attend), and, if `through` and `x` are given, which positions really affect which
    outputs of that module: the module respects a mask if the two agree."""
    maps = dict(given)
    if through is not None and x is not None:
        maps["information flow"] = flow(through, x)
    return matrices(maps, tokens, tokens, title, ("query", "key"))


def positions(length: int = 48, dim: int = 32, title: str = "Positions") -> Matrices:
    """Sinusoids; the product of two equal vectors after rotation; T5's buckets of distances."""
    place = torch.arange(length)
    ones = apply_rotary(torch.ones(length, dim), place)
    distance = place[None, :] - place[:, None]
    maps = {
        "sinusoids": sinusoidal_positions(length, dim),
        "rotary: q · k of equal vectors": ones @ ones.T / dim,
        "relative buckets, both directions": relative_bucket(distance, True, 32, 128),
        "relative buckets, backwards": relative_bucket(distance, False, 32, 128),
    }
    return matrices(maps, title=title, axes=("position", "column or position"))


class Matrices(Picture):
    """Masks, positions and other matrices."""

    _esm = script = STATIC / "matrices.js"

    def body(self) -> str:
        """Every matrix as a picture, with its range of values."""
        names = self.trace["rows"], self.trace["cols"]
        return "".join(
            picture(
                rows(inflate(m["data"], m["rows"] * m["cols"], m["name"]), m["cols"]),
                m["cols"],
                m["name"] + ("" if m["kind"] == "bool" else f", {m['low']:.4g} to {m['high']:.4g}"),
                names,
                tones(m),
            )
            for m in self.trace["maps"]
        )


def tones(packed: dict[str, Any]) -> list[Colour]:
    """The colours of a map's bytes, as the view has them."""
    low, high = packed["low"], packed["high"]
    if packed["kind"] == "signed":
        return sign_tones(low, high)
    if packed["kind"] == "integer":
        return shares(root=False)
    return shares(max(abs(low), abs(high)) or 1.0, low, high)


def rows(flat: bytes, width: int) -> list[bytes]:
    """Bytes cut into rows of `width`; the last one may be shorter."""
    return [flat[start : start + width] for start in range(0, len(flat), width)]


VIEW = Matrices
