"""The matrices of one layer of a walk as pictures, for places that run no scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tfkit_lab.figure import Colour, picture, shares, sign_tones
from tfkit_lab.trace import inflate

Numbers = npt.NDArray[np.float32]

FAR = -1e4  # a score that nothing is near: a mask's
HIDDEN: Colour = (255, 255, 255)


def draw_layer(trace: Mapping[str, Any], stage: int, head: int) -> str:
    """Every matrix of the layer of a stage, one below the other; of those with several heads, one of them."""
    part = trace["stages"][stage]["part"]
    numbers = unpack(trace)
    return "".join(
        draw(trace, one, matrix, numbers, head)
        for one in trace["stages"]
        if one["part"] == part
        for matrix in one["matrices"]
    )


def first_softmax(trace: Mapping[str, Any]) -> int:
    """The stage at which the view opens, or else the first."""
    return next((index for index, stage in enumerate(trace["stages"]) if stage["name"] == "softmax"), 0)


def unpack(trace: Mapping[str, Any]) -> Numbers:
    """All numbers of a walk, float32. Raises ValueError for damaged data."""
    ends = [m["at"] + m["heads"] * int(np.prod(shape(trace, m))) for s in trace["stages"] for m in s["matrices"]]
    planes = np.frombuffer(inflate(trace["data"], 4 * max(ends), "walk"), np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<f4").ravel()


def shape(trace: Mapping[str, Any], matrix: Mapping[str, Any]) -> tuple[int, int]:
    """Rows and columns that were kept."""
    rows, cols = (len(trace["axes"][matrix[side]]["at"]) for side in ("rows", "cols"))
    return rows, cols


def draw(
    trace: Mapping[str, Any], stage: Mapping[str, Any], matrix: Mapping[str, Any], numbers: Numbers, head: int
) -> str:  # fmt: skip
    """One head of a matrix; what is hidden is white."""
    rows, cols = shape(trace, matrix)
    which = min(head, matrix["heads"] - 1)
    begins = matrix["at"] + which * rows * cols
    values = numbers[begins : begins + rows * cols].astype(np.float64).reshape(rows, cols)
    weights = stage["name"] == "softmax"
    visible = np.isfinite(values) & (values > FAR) & ~(weights & (values == 0))
    low, high = (float(values[visible].min()), float(values[visible].max())) if visible.any() else (0.0, 1.0)
    step = (high - low) / 254 or 1.0
    bytes_ = np.where(visible, 1 + np.round((np.where(visible, values, low) - low) / step), 0).astype(np.uint8)
    scale = (shares(1.0, low - step, high) if weights else sign_tones(low - step, high))[1:]
    side = lambda name: trace["axes"][matrix[name]]["names"]
    label = f"{matrix['name']}{f', head {which + 1}' if matrix['heads'] > 1 else ''}, {low:.3g} to {high:.3g}"
    return picture([row.tobytes() for row in bytes_], cols, label, (side("rows"), side("cols")), [HIDDEN, *scale])
