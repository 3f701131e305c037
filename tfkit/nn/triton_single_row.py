"""Triton kernels for a decoding step of one row on a GPU: a product with its epilogue, and attention over the cache.

A vector times a matrix takes as long as reading the matrix: each program reads a few of its rows, 16 bytes at a time,
and there are programs enough to fill the card. A bias, an activation and a residual are applied before the result is
written. Attention of one query divides the cache among programs and merges their results, as Flash-Decoding does (Dao
et al. 2023). Every configuration is fixed, so nothing is tuned at run time. `decode.single_row_kernels` puts both into
the graph of a step.

Needs triton (the extra `kernels`). Without a GPU Triton's interpreter runs the kernels, slowly, on the CPU: set the
environment variable TRITON_INTERPRET=1 before triton is first imported.

A program of the attention keeps its tiles in the shared memory of a multiprocessor, of which a T4 has 64 KiB and an
H100 227 KiB. So they are loaded in one stage, those of wide heads are smaller, and `has_shared_memory_for` says whether
a card has room.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

PROGRAMS = 132  # as many as an H100 has multiprocessors
COLUMNS = 512  # of a matrix that a program reads at a time
WIDTHS = (16, 32, 64, 128, 256)  # of heads
FEWEST_HEADS = 16  # of queries in a product of two tiles
LARGEST_GROUP = 32  # with 128 heads that share their keys the kernel takes more than a minute to compile
ANY_CARD = 48 * 1024  # bytes of shared memory that every card has


@triton.jit
def _activate(x, activation: tl.constexpr):
    if activation == "relu":
        x = tl.maximum(x, 0.0)
    elif activation == "silu":
        x = x * tl.sigmoid(x)
    elif activation == "gelu":
        x = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    elif activation == "gelu_tanh":  # tanh(y) is 2 sigmoid(2 y) - 1
        x = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    return x


@triton.jit
def _product(
    x, weight, bias, residual, out, O, I, stride,
    HAS_BIAS: tl.constexpr, HAS_RESIDUAL: tl.constexpr, activation: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    # the rows of the matrix that this program multiplies
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = rows < O
    starts = weight + rows.to(tl.int64)[:, None] * stride
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, I, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        within = columns < I
        part = tl.load(x + columns, mask=within, other=0.0).to(tl.float32)
        read = tl.load(starts + columns[None, :], mask=inside[:, None] & within[None, :], other=0.0)
        total += read.to(tl.float32) * part[None, :]
    found = tl.sum(total, 1)
    if HAS_BIAS:
        found += tl.load(bias + rows, mask=inside, other=0.0).to(tl.float32)
    found = _activate(found, activation)
    if HAS_RESIDUAL:
        found += tl.load(residual + rows, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + rows, found.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _attend_part(
    q, k, v, mask, parts, maxima, sums, K, scale, group, splits,
    qb, qh, kb, kg, kk, vb, vg, vk, mb, mh, mk,
    HAS_MASK: tl.constexpr, HEADS: tl.constexpr, TILE: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    # one share of the keys of one head of keys, for all heads of queries that read it
    batch, key_head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    own, columns = tl.arange(0, HEADS), tl.arange(0, D)
    real, heads = own < group, key_head * group + own
    queries = tl.load(q + batch * qb + heads[:, None] * qh + columns, mask=real[:, None], other=0.0).to(tl.float32)
    running_max = tl.full((HEADS,), float("-inf"), tl.float32)
    denominator = tl.zeros((HEADS,), tl.float32)
    output = tl.zeros((HEADS, D), tl.float32)
    tiles = tl.cdiv(K, TILE)
    for tile in range(split, tiles, splits):
        at = tile * TILE + tl.arange(0, TILE)
        written = at < K
        keys = tl.load(k + batch * kb + key_head * kg + at[:, None] * kk + columns, mask=written[:, None], other=0.0)
        values = tl.load(v + batch * vb + key_head * vg + at[:, None] * vk + columns, mask=written[:, None], other=0.0)
        scores = tl.dot(queries, tl.trans(keys.to(tl.float32)), input_precision="ieee") * scale
        if HAS_MASK:
            places = mask + batch * mb + heads[:, None] * mh + at[None, :] * mk
            scores += tl.load(places, mask=real[:, None] & written[None, :], other=0.0).to(tl.float32)
        scores = tl.where(written[None, :], scores, float("-inf"))
        new_max = tl.maximum(running_max, tl.max(scores, 1))
        shift = tl.where(new_max == float("-inf"), 0.0, new_max)  # a tile may hide all of its keys
        weights, rescale = tl.exp(scores - shift[:, None]), tl.exp(running_max - shift)
        denominator = rescale * denominator + tl.sum(weights, 1)
        output = rescale[:, None] * output + tl.dot(weights, values.to(tl.float32), input_precision="ieee")
        running_max = new_max
    place = (batch * tl.num_programs(1) * group + heads) * splits + split
    tl.store(parts + place[:, None] * D + columns, output, mask=real[:, None])
    tl.store(maxima + place, running_max, mask=real)
    tl.store(sums + place, denominator, mask=real)


@triton.jit
def _merge_parts(parts, maxima, sums, out, splits, SPLITS: tl.constexpr, D: tl.constexpr):
    # one head of one row: the parts weighted by their shares of the softmax's denominator
    head, columns, own = tl.program_id(0), tl.arange(0, D), tl.arange(0, SPLITS)
    real = own < splits
    largest = tl.load(maxima + head * splits + own, mask=real, other=float("-inf"))
    highest = tl.max(largest, 0)
    shares = tl.exp(largest - tl.where(highest == float("-inf"), 0.0, highest))
    total = tl.sum(shares * tl.load(sums + head * splits + own, mask=real, other=0.0), 0)
    each = tl.load(parts + (head * splits + own)[:, None] * D + columns, mask=real[:, None], other=0.0)
    merged = tl.sum(shares[:, None] * each, 0) / tl.where(total == 0.0, 1.0, total)  # over no key: zeros
    tl.store(out + head * D + columns, merged.to(out.dtype.element_ty))


def rows_per_program(outputs: int) -> int:
    """The rows of a matrix that each program multiplies: up to eight, but few enough that the card is full."""
    rows = 8
    while rows > 1 and triton.cdiv(outputs, rows) < PROGRAMS:
        rows //= 2
    return rows


@torch.library.custom_op("tfkit::row_times_matrix", mutates_args=())
def row_times_matrix(
    x: Tensor, weight: Tensor, bias: Tensor | None, residual: Tensor | None, activation: str
) -> Tensor:
    """activation(x weightᵀ + bias) + residual for a single row, added up in float32, without gradients.

    x [...,I], of one row; weight [O,I], contiguous rows; bias [O] or None; residual [...,O] or None; activation: one of
    "none", "relu", "silu", "gelu", "gelu_tanh" -> [...,O] in x's dtype
    """
    outputs, inputs = weight.shape
    x = x.contiguous()
    out = x.new_empty(*x.shape[:-1], outputs)
    rows = rows_per_program(outputs)
    residual = residual if residual is None else residual.contiguous()
    _product[(triton.cdiv(outputs, rows),)](
        x, weight, x if bias is None else bias, x if residual is None else residual, out, outputs, inputs,
        weight.stride(0), bias is not None, residual is not None, activation, rows, COLUMNS, num_warps=4,
    )  # fmt: skip
    return out


@row_times_matrix.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor | None, residual: Tensor | None, activation: str) -> Tensor:
    return x.new_empty(*x.shape[:-1], weight.size(0))


def block_n(width: int) -> int:
    """The keys that a program reads at a time, fewer where heads are wide."""
    return 32 if width > 128 else 64


def block_m(group: int) -> int:
    """The heads of queries that a program computes, of which a group of so many are real."""
    return max(FEWEST_HEADS, triton.next_power_of_2(group))


def shared_memory_needed(width: int, group: int, dtype: torch.dtype) -> int:
    """At most so many bytes of shared memory are used by a program of the attention, for a group of heads of this width
    over keys and values in this dtype: for the queries, their scores, and a tile widened to float32. Keys and values
    that are float32 already lie there together."""
    heads, tile = block_m(group), block_n(width)
    tiles = 2 if dtype == torch.float32 else 1
    return 4 * (heads * (width + tile) + tiles * tile * width)


def shared_memory_of(device: torch.device) -> int:
    """The bytes of shared memory that a program may use on a card. On AMD's cards torch may not tell the first."""
    properties = torch.cuda.get_device_properties(device)
    told = (getattr(properties, f"shared_memory_per_block{kind}", 0) for kind in ("_optin", ""))
    return next(filter(None, told), ANY_CARD)


def has_shared_memory_for(q: Tensor, k: Tensor) -> bool:
    """Whether the card of these tensors, shaped as for `decode_attention`, has the shared memory that it needs, for a
    group that is not too large. Triton's interpreter, on a CPU, has memory enough."""
    group = q.size(1) // k.size(1)
    if q.device.type == "cpu" or group > LARGEST_GROUP:
        return group <= LARGEST_GROUP
    return shared_memory_needed(q.size(3), group, k.dtype) <= shared_memory_of(q.device)


@torch.library.custom_op("tfkit::decode_attention", mutates_args=())
def decode_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """softmax(q kᵀ scale + mask) v for one query of each head, without gradients; over no key: zeros.

    q [B,H,1,D]; k and v [B,G,K,D], G a divisor of H, whose heads H / G neighbouring heads of queries share; mask: bool
    (True = may attend) or float, broadcastable to [B,H,1,K], or None -> [B,H,1,D] in q's dtype. Raises Triton's
    OutOfResources on a card without the shared memory (`has_shared_memory_for`).
    """
    (batch, heads, _, width), (groups, length) = q.shape, k.shape[1:3]
    q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v))
    tile = block_n(width)
    splits = max(1, min(triton.cdiv(length, tile), triton.cdiv(PROGRAMS, batch * groups)))
    if mask is not None and mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=torch.float32).masked_fill_(~mask, float("-inf"))
    added = q if mask is None else mask.expand(batch, heads, 1, length)
    parts = q.new_empty(batch * heads, splits, width, dtype=torch.float32)
    maxima, sums = (q.new_empty(batch * heads, splits, dtype=torch.float32) for _ in range(2))
    group = heads // groups
    _attend_part[(batch, groups, splits)](
        q, k, v, added, parts, maxima, sums, length, scale, group, splits, *q.stride()[:2], *k.stride()[:3],
        *v.stride()[:3], added.stride(0), added.stride(1), added.stride(3), mask is not None,
        block_m(group), tile, width, num_warps=4, num_stages=1,
    )  # fmt: skip
    out = q.new_empty(batch, heads, 1, width)
    _merge_parts[(batch * heads,)](parts, maxima, sums, out, splits, triton.next_power_of_2(splits), width)
    return out


@decode_attention.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    return q.new_empty(q.shape)
