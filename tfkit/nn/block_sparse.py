"""Block-sparse attention: each block attends to its neighbours, to the first and last blocks, and to a few random
ones (Zaheer et al. 2020, BigBird, arXiv:2007.14062).
"""

import math
import random
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import tracing
from . import flex
from .attention import attend

KINDS = [tracing.KINDS.index(kind) for kind in ("global", "window", "window", "window", "global")]  # of `block_table`


def bigbird_mask(length: int, block: int, window_blocks: int, global_blocks: int, random_blocks: Tensor) -> Tensor:
    """Which blocks attend to which: neighbours to each other, the first blocks to all and all to them, some at random.

    length: a multiple of block; window_blocks: both sides and itself; random_blocks int64 [length/block, r]: the
    other blocks that each block attends to -> bool [L,L]
    """
    blocks = torch.arange(length // block, device=random_blocks.device)
    near = (blocks[:, None] - blocks).abs() <= window_blocks // 2  # [N,N]
    first = blocks < global_blocks
    drawn = (random_blocks[:, :, None] == blocks).any(1)
    mask = near | first[:, None] | first | drawn
    return mask.repeat_interleave(block, 0).repeat_interleave(block, 1)


@lru_cache(maxsize=256)
def draw_random_blocks(
    seed: int, heads: int, blocks: int, n_random: int, most: tuple[int, int] | None = None
) -> Tensor:
    """The random blocks of the published code, drawn as NumPy does: int64 [heads, blocks - 2, many], without the two
    ends.

    most: None, or (blocks of the longest sequence, blocks that may be drawn): lengths of 1024, 3072 and 4096 tokens
    follow the older plan, which draws for the longest sequence and uses the beginning
    """
    draw = LegacyRandom(seed)
    if most is None:
        rows = [[_row(draw, at, 2 * n_random + 5, n_random) for _ in range(heads)] for at in range(1, blocks)]
        drawn = torch.tensor(rows, dtype=torch.int64).reshape(blocks - 1, heads, n_random)
        return drawn.transpose(0, 1)[:, : blocks - 2]
    longest, last = most
    rows = [[_old_row(draw, at, longest, last, n_random) for at in range(1, longest - 1)] for _ in range(heads)]
    return torch.tensor(rows, dtype=torch.int64).reshape(heads, longest - 2, n_random)[:, : blocks - 2]


class LegacyRandom:
    """Permutations as numpy.random.RandomState draws them, from the same Mersenne twister, which Python has too."""

    def __init__(self, seed: int) -> None:
        key = [seed & 0xFFFFFFFF]
        for at in range(1, 624):  # NumPy's way to seed the generator with one number (Matsumoto and Nishimura 2002)
            key.append((1812433253 * (key[-1] ^ key[-1] >> 30) + at) & 0xFFFFFFFF)
        self.bits = random.Random()
        self.bits.setstate((3, (*key, 624), None))

    def permutation(self, items: int | list[int]) -> list[int]:
        """items: a list, or n for the numbers 0 to n - 1 -> a shuffled list"""
        drawn = list(range(items)) if isinstance(items, int) else list(items)
        for last in range(len(drawn) - 1, 0, -1):
            mask = (1 << last.bit_length()) - 1
            while (at := self.bits.getrandbits(32) & mask) > last:
                pass
            drawn[last], drawn[at] = drawn[at], drawn[last]
        return drawn


def _row(draw: LegacyRandom, at: int, end: int, n_random: int) -> list[int]:
    """`n_random` of the blocks 0 to end - 1 that block `at` does not see anyway."""
    if not n_random:
        return []
    taken = {at - 1, at, at + 1, 0, end - 1} | ({end - 2} if at == 1 else set()) | ({1} if at == end - 2 else set())
    return [block for block in draw.permutation(end) if block not in taken][:n_random]


def _old_row(draw: LegacyRandom, at: int, blocks: int, last: int, n_random: int) -> list[int]:
    middle = list(range(1, blocks - 1))
    if at < blocks - 3:  # its last two rows do not exclude the blocks that they see anyway
        middle = middle[: max(0, min(at - 2, last))] + middle[at + 1 : last]
    else:
        middle = middle[:last]
    return draw.permutation(middle)[:n_random]


def block_table(blocks: int, drawn: Tensor | None = None, device: torch.device | None = None) -> tuple[Tensor, Tensor]:
    """The blocks that each middle block attends to: the first, itself and its neighbours, the last, and the random
    ones.

    drawn int64 [H,N-2,r] or None -> (int64 [H,N-2,5+r], or [1,N-2,5], and bool [N-2,5+r]: False for a second mention)
    """
    middle = torch.arange(1, blocks - 1, device=device)
    ends = torch.zeros_like(middle), torch.full_like(middle, blocks - 1)
    table = torch.stack([ends[0], middle - 1, middle, middle + 1, ends[1]], -1)[None]  # [1,N-2,5]
    first_mention = torch.ones_like(table[0], dtype=torch.bool)
    for end in (first_mention[0, 1], first_mention[-1, 3]):  # the ends are their neighbours
        end.fill_(False)  # an assignment would wait for the device
    if drawn is None:
        return table, first_mention
    table = torch.cat([table.expand(len(drawn), -1, -1), drawn], -1)
    return table, F.pad(first_mention, (0, drawn.size(-1)), value=True)


def count_mentions(table: Tensor, first_mention: Tensor, first_block_repeats: int) -> Tensor:
    """How often each block sees each other one. As in `block_sparse_attention` -> int64 [H or 1,N,N]"""
    heads, blocks = len(table), table.size(1) + 2
    counts = torch.ones(heads, blocks, blocks, dtype=torch.int64, device=table.device)  # the ends see every block
    middle = torch.zeros_like(counts[:, 1:-1])
    middle.scatter_add_(-1, table, first_mention.long().expand_as(table))
    middle[..., 0] += first_block_repeats
    counts[:, 1:-1] = middle
    return counts


def block_sparse_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    non_padding: Tensor,
    table: Tensor,
    first_mention: Tensor,
    *,
    first_block_repeats: int = 0,
    rule: Any = None,
) -> Tensor:
    """The first and the last block attend to all keys, those in between to the blocks in the table.

    q, k, v [B,H,L,D], L a multiple of the block; non_padding bool [B,N,W]: keys that count; table, once from
    `block_table`; first_block_repeats: how often more the first block counts for all but the ends; rule: of the keys
    that count, for FlexAttention, or None -> [B,H,L,D]
    """
    if flex.is_rule(rule):
        counts = count_mentions(table, first_mention, first_block_repeats).expand(q.size(1), -1, -1)
        return attend(q, k, v, mask=rule & flex.counted_blocks(counts, non_padding.size(2), q.dtype))
    batch, heads, length, width = q.shape
    blocks, block = non_padding.shape[1:]
    q = q.unflatten(2, (blocks, block))  # [B,H,N,W,D]
    ends = torch.cat([q[:, :, :1], q[:, :, -1:]], 2).flatten(2, 3)
    ends = attend(ends, k, v, mask=non_padding.view(batch, 1, 1, length)).unflatten(2, (2, block))
    at = table + blocks * torch.arange(heads, device=q.device)[:, None, None]  # [H,N-2,M]
    k, v = (_gather_blocks(x, at, block) for x in (k, v))  # [B,H·(N-2),M·W,D]
    mask = (
        (non_padding[:, table] & first_mention[..., None])
        .flatten(-2)
        .expand(-1, heads, -1, -1)
        .flatten(1, 2)[:, :, None]
    )
    bias = q.new_zeros(mask.size(-1)) if first_block_repeats else None
    if bias is not None:
        bias[:block] = math.log1p(first_block_repeats)
    middle = attend(q[:, :, 1:-1].flatten(1, 2), k, v, mask=mask, bias=bias).unflatten(1, (heads, -1))
    if tracing.recorder() is not None:
        trace_blocks(table.cpu(), heads, block)
    return torch.cat([ends[:, :, :1], middle, ends[:, :, 1:]], 2).flatten(2, 3)


def trace_blocks(table: Tensor, heads: int, block: int) -> None:
    """Records the positions of the queries and keys of the two calls for a trace; table int64 [H,N-2,M], or
    [1,N-2,5]"""
    blocks, within, head = table.size(1) + 2, torch.arange(block), torch.arange(heads)
    at = torch.arange(blocks)[:, None] * block + within  # [N,W]
    tracing.note_positions(head, at[[0, -1]].flatten(), torch.arange(blocks * block), torch.tensor(KINDS[0]))
    keys = (table[..., None] * block + within).flatten(2).expand(heads, -1, -1).flatten(0, 1)  # [H·(N-2),M·W]
    kinds = torch.tensor(KINDS + [tracing.KINDS.index("random")] * (table.size(2) - len(KINDS)))
    kinds = kinds.repeat_interleave(block)
    tracing.note_positions(head.repeat_interleave(blocks - 2), at[1:-1].repeat(heads, 1), keys[:, None], kinds)


def _gather_blocks(x: Tensor, at: Tensor, block: int) -> Tensor:
    """x [B,H,L,D], at int64 [H,N-2,M]: block indices over all heads -> [B,H·(N-2),M·W,D]"""
    rows = x.reshape(x.size(0), -1, block * x.size(-1))  # [B,H·N,W·D]
    return rows.index_select(1, at.flatten()).view(x.size(0), at[..., 0].numel(), -1, x.size(-1))
