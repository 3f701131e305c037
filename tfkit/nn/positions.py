"""Position encodings: absolute tables, rotations, and distance buckets for biases on the scores."""

import math

import torch
from torch import Tensor


def position_range(past: Tensor | int, count: int, device: torch.device | None = None) -> Tensor:
    """The `count` positions that come after `past` others, an int or a tensor int64 [] -> int64 [count]

    A tensor is for graphs that are the same at every step: see `StaticCache`."""
    if isinstance(past, int):
        return torch.arange(past, past + count, device=device)
    return past + torch.arange(count, device=device)


def table_slice(table: Tensor, past: Tensor | int, count: int) -> Tensor:
    """The rows of a table [L,E] for `position_range(past, count)` -> [count,E]; a view if `past` is an int."""
    return table[past : past + count] if isinstance(past, int) else table[position_range(past, count, table.device)]


def sinusoidal_positions(length: int, dim: int) -> Tensor:
    """A sinusoid per pair of columns, from fast to slow (Vaswani et al. 2017, 3.5): even columns sin, odd columns cos.

    table[p, 2i] = sin(p / 10000^(2i/dim)), table[p, 2i+1] = cos(p / 10000^(2i/dim))
    length int, dim even int -> [L,dim] of the default float dtype
    """
    position = torch.arange(length, dtype=torch.float64)[:, None]
    frequency = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angle = position * frequency  # [L,dim/2]
    table = torch.stack([angle.sin(), angle.cos()], dim=-1)  # [L,dim/2,2]
    return table.reshape(length, dim).to(torch.get_default_dtype())


def sines_then_cosines(length: int, dim: int) -> Tensor:
    """`sinusoidal_positions` with all sines before all cosines, as in Marian -> [L,dim]"""
    table = sinusoidal_positions(length, dim)
    return torch.cat([table[:, 0::2], table[:, 1::2]], 1)


def apply_rotary(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotate each pair of columns (0,1), (2,3), … by an angle that grows with the position (Su et al. 2021; GPT-J).

    x [...,L,D] with D even, positions [L] -> [...,L,D]. Dot products of two rotated vectors depend only on their
    distance.
    """
    dim = x.size(-1)
    wide = torch.promote_types(x.dtype, torch.float32)  # half precision cannot tell angles near 1000 apart
    frequency = base ** (-torch.arange(0, dim, 2, dtype=wide, device=x.device) / dim)
    angle = positions.to(wide)[:, None] * frequency  # [L,D/2]
    sin, cos = angle.sin(), angle.cos()
    even, odd = x[..., 0::2].to(wide), x[..., 1::2].to(wide)
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)  # [...,L,D/2,2]
    return rotated.flatten(-2).to(x.dtype)


def relative_bucket(relative_position: Tensor, bidirectional: bool, num_buckets: int, max_distance: int) -> Tensor:
    """The bucket of a distance: small ones have a bucket each, larger ones share it (Raffel et al. 2020, T5).

    relative_position = key - query, int64 of any shape -> int64 of the same shape
    Of n buckets the first e = n // 2 have one distance each; a distance d from e on is in bucket
    e + floor(ln(d / e) / ln(max_distance / e) * (n - e)), at most n - 1. bidirectional: n is half of num_buckets, and
    the upper half is for keys ahead. Otherwise (a decoder) keys ahead are in the bucket of distance 0.
    """
    first: Tensor | int = 0
    distance = -relative_position
    if bidirectional:  # half of the buckets for each side
        num_buckets //= 2
        first = (relative_position > 0).long() * num_buckets
        distance = distance.abs()
    distance = distance.clamp(min=0)
    exact = num_buckets // 2
    far = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact) * (num_buckets - exact)
    far = (exact + far.long()).clamp(max=num_buckets - 1)
    return first + torch.where(distance < exact, distance, far)


def relative_shift(scores: Tensor) -> Tensor:
    """Turn scores by distance into scores by position: row i moves left by Q-1-i (Dai et al. 2019, appendix B).

    scores [B,H,Q,R], R >= Q -> [B,H,Q,R]; entries beyond the causal part are undefined
    """
    batch, heads, q, r = scores.shape
    padded = torch.cat([scores.new_zeros(batch, heads, q, 1), scores], dim=-1)  # [B,H,Q,R+1]
    return padded.reshape(batch, heads, r + 1, q)[:, :, 1:].reshape(batch, heads, q, r)


def axial_positions(e1: Tensor, e2: Tensor) -> Tensor:
    """A large table from two small ones: position j is e1[j % l1] concatenated with e2[j // l1].

    The method is from Reformer's published code, trax.

    e1 [l1,d1], e2 [l2,d2] -> [l1*l2,d1+d2]
    """
    return torch.cat([e1.repeat(e2.size(0), 1), e2.repeat_interleave(e1.size(0), dim=0)], dim=-1)
