"""Rotary positions as in current decoders: any base, and all the methods that stretch them to longer texts.

RoPE: Su et al. 2021, arXiv:2104.09864. Column i is rotated together with column i + D/2 ("rotate half", as in Llama);
`rotary.rotate_pairs` pairs neighbours, as GPT-J does. They differ by a permutation of q_proj's and k_proj's columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

Scaling = Mapping[str, Any]


def rope_frequencies(
    dim: int,
    base: float,
    scaling: Scaling | None = None,
    *,
    length: int,
    max_length: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | None = None,
) -> tuple[Tensor, float]:
    """The rotation frequency of each pair of columns: base^(-2i/dim), changed by `scaling`.

    dim: number of rotated columns; scaling: {"rope_type": "linear", "factor": 2.0} and the like, as in config.json;
    length: of the text so far, which "dynamic" and "longrope" depend on; max_length: the longest text of the
    configuration -> (frequencies [dim/2], in radians per position; a factor for the cosines and sines)
    Raises ValueError for an unknown rope_type, or for one that lacks a number.
    """
    kind = (scaling or {}).get("rope_type", "default")
    if kind not in KINDS:
        raise ValueError(f"rope_type is {kind!r}; available: {', '.join(KINDS)}")
    exponents = torch.arange(0, dim, 2, dtype=torch.promote_types(dtype, torch.float32), device=device) / dim
    try:
        return KINDS[kind](base, exponents, scaling or {}, length, max_length)
    except KeyError as missing:
        raise ValueError(f"rope_type {kind!r} needs {missing.args[0]!r}; given: {', '.join(scaling or {})}") from None


def _default(base: float, exponents: Tensor, *_: Any) -> tuple[Tensor, float]:
    return base**-exponents, 1.0


def _linear(base: float, exponents: Tensor, scaling: Scaling, *_: Any) -> tuple[Tensor, float]:
    """Position interpolation: positions are closer together (Chen et al. 2023, arXiv:2306.15595)."""
    return base**-exponents / scaling["factor"], 1.0


def _dynamic(base: float, exponents: Tensor, scaling: Scaling, length: int, max_length: int) -> tuple[Tensor, float]:
    """A base that grows with texts beyond the trained length and stretches low frequencies most ("NTK-aware")."""
    dim = 2 * exponents.numel()
    growth = scaling["factor"] * max(length, max_length) / max_length - (scaling["factor"] - 1)
    return (base * growth ** (dim / (dim - 2))) ** -exponents, 1.0


def _llama3(base: float, exponents: Tensor, scaling: Scaling, *_: Any) -> tuple[Tensor, float]:
    """Long wavelengths are stretched, short ones kept, those between interpolated (Llama 3.1, arXiv:2407.21783)."""
    plain = base**-exponents
    # full turns of each pair over the trained length
    turns = scaling["original_max_position_embeddings"] * plain / (2 * math.pi)
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - kept) * plain / scaling["factor"] + kept * plain, 1.0


def _yarn(base: float, exponents: Tensor, scaling: Scaling, _length: int, max_length: int) -> tuple[Tensor, float]:
    """A ramp over the pairs, by their number of turns in the trained length (Peng et al. 2023, arXiv:2309.00071)."""
    trained = scaling["original_max_position_embeddings"]
    factor = scaling["factor"] or max_length / trained
    dim = 2 * exponents.numel()

    def pair(turns: float) -> float:
        """The (fractional) index of the pair with this number of turns over the trained length."""
        return dim * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))

    first, last = pair(scaling.get("beta_fast") or 32), pair(scaling.get("beta_slow") or 1)
    if scaling.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, dim - 1)
    steps = torch.arange(dim // 2, dtype=exponents.dtype, device=exponents.device)
    # `last` is below `first` where even the fastest pair makes fewer than beta_slow turns: then nothing is stretched
    stretched = ((steps - first) / (last - first or 1e-3)).clamp(0, 1)
    plain = base**-exponents
    return stretched * plain / factor + (1 - stretched) * plain, _yarn_temperature(scaling, factor)


def yarn_scale(factor: float, weight: float = 1.0) -> float:
    """YaRN's attention factor for a text `factor` times as long: 0.1 · weight · ln(factor) + 1."""
    return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0


def _yarn_temperature(scaling: Scaling, factor: float) -> float:
    if scaling.get("attention_factor") is not None:
        return float(scaling["attention_factor"])
    if scaling.get("mscale") and scaling.get("mscale_all_dim"):
        return yarn_scale(factor, scaling["mscale"]) / yarn_scale(factor, scaling["mscale_all_dim"])
    return yarn_scale(factor)


def _longrope(base: float, exponents: Tensor, scaling: Scaling, length: int, max_length: int) -> tuple[Tensor, float]:
    """A factor for each pair, found by search, with separate lists for short and long texts (Ding et al. 2024,
    arXiv:2402.13753)."""
    trained = scaling["original_max_position_embeddings"]
    factors = scaling["long_factor" if length > trained else "short_factor"]
    stretch = scaling.get("factor") or max_length / trained
    temperature = scaling.get("attention_factor")
    if temperature is None:
        temperature = math.sqrt(1 + math.log(stretch) / math.log(trained)) if stretch > 1 else 1.0
    return base**-exponents / exponents.new_tensor(factors), float(temperature)


KINDS: dict[str, Callable[..., tuple[Tensor, float]]] = {
    "default": _default,
    "linear": _linear,
    "dynamic": _dynamic,
    "llama3": _llama3,
    "yarn": _yarn,
    "longrope": _longrope,
}


def rope_rotation(positions: Tensor, frequencies: Tensor, factor: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """positions int [B,L] or [L], frequencies [D/2] -> cos, sin [B or 1,1,L,D/2], once for all layers of one kind"""
    angles = torch.atleast_2d(positions).to(frequencies.dtype)[:, None, :, None] * frequencies
    return (angles.cos() * factor).to(dtype), (angles.sin() * factor).to(dtype)


def rotate_halves(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate column i with column i + R of the first 2R columns by the angle of their position; the rest stays.

    x [B,H,L,D], cos and sin [B or 1,1,L,R] -> [B,H,L,D], which lies in memory as [B,L,H,D], as projections do: so
    attention's result does, and the heads are merged without a copy
    """
    half = cos.size(-1)
    if x.size(2) == 1:  # a step of decoding: the number of operations counts, and both layouts are the same
        first, second, rest = x.split([half, half, x.size(-1) - 2 * half], dim=-1)
        parts = [(first * cos).addcmul(second, sin, value=-1), (second * cos).addcmul(first, sin)]
        return torch.cat([*parts, rest] if rest.size(-1) else parts, dim=-1)
    x, cos, sin = x.transpose(1, 2), cos.transpose(1, 2), sin.transpose(1, 2)
    first, second, rest = x.split([half, half, x.size(-1) - 2 * half], dim=-1)
    swapped, sin = torch.cat([second, first], dim=-1), torch.cat([-sin, sin], dim=-1)
    rotated = (x[..., : 2 * half] * torch.cat([cos, cos], dim=-1)).addcmul_(swapped, sin)
    return (torch.cat([rotated, rest], dim=-1) if rest.size(-1) else rotated).transpose(1, 2)
