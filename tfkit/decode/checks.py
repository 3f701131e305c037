"""Checks of the settings of a generation: one line that names the setting, what was given, and what it must be."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any


def require_number(
    name: str,
    given: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    advice: str = "",
) -> None:
    """Raises TypeError for something other than a number, ValueError for one that is not finite or out of range. name:
    of the setting, or of a strategy and its setting, "Sample(top_p"; advice: put after the message."""
    shown = f"{name}={given!r}" + (")" if "(" in name else "")
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError(f"{shown}: must be a number{advice}")
    value = float(given)
    bounds = [f"above {above:g}"] if above is not None else [f"at least {least:g}"] if least is not None else []
    bounds += [f"at most {most:g}"] if most is not None else []
    low = (above is not None and value <= above) or (least is not None and value < least)
    if not math.isfinite(value) or low or (most is not None and value > most):
        raise ValueError(f"{shown}: must be {' and '.join(bounds) or 'a finite number'}{advice}")


def is_whole(given: Any) -> bool:
    """Whether this is a whole number, numpy's among them, and not True or False."""
    return isinstance(given, Integral) and not isinstance(given, bool)


def require_whole(name: str, given: Any, *, least: int = 0, advice: str = "") -> None:
    """Raises TypeError for something other than a whole number, ValueError for one below `least`; name, advice: as in
    `require_number`."""
    shown = f"{name}={given!r}" + (")" if "(" in name else "")
    if not is_whole(given):
        raise TypeError(f"{shown}: must be a whole number, at least {least}{advice}")
    if given < least:
        raise ValueError(f"{shown}: must be at least {least}{advice}")
