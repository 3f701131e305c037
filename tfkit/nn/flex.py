"""Attention masks as rules instead of tables, for FlexAttention (Dong et al. 2024, arXiv:2412.05496).

A rule is a function of positions; blocks of 128 x 128 positions in which it is False everywhere are never computed.
`attend(mask=Rule)` uses FlexAttention on a GPU if that is faster, and otherwise the mask [B,H,Q,K] that the rule
describes, computed once for all layers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor

from .. import tracing
from . import attention_kernel
from .attention import attend
from .mask_sharing import once_per_mask

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

T = TypeVar("T")
Test = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
SHORTEST = 1024  # queries: with fewer a full mask costs little, and compiling takes a minute


class Rule:
    """sees(b, h, q, k) -> bool, on int tensors that broadcast: whether query q of head h in row b may attend to key k.
    batch, heads: the numbers of rows and heads with rules of their own; 1: all share one. Rules combine by & and |."""

    def __init__(self, allows: Test, batch: int = 1, heads: int = 1) -> None:
        self.allows, self.batch, self.heads = allows, batch, heads
        self.memo: dict[Any, Any] = {}  # a cache that lives as long as the rule: one forward pass

    def __and__(self, other: Rule) -> Rule:
        return Rule(lambda b, h, q, k: self.allows(b, h, q, k) & other.allows(b, h, q, k), *self.broadcast_shape(other))

    def __or__(self, other: Rule) -> Rule:
        return Rule(lambda b, h, q, k: self.allows(b, h, q, k) | other.allows(b, h, q, k), *self.broadcast_shape(other))

    def broadcast_shape(self, other: Rule) -> tuple[int, int]:
        """-> the numbers of rows and heads of the combined rule"""
        return max(self.batch, other.batch), max(self.heads, other.heads)

    def memoize(self, key: Hashable, make: Callable[[], T]) -> T:
        """make(), or its earlier result for this key, so that all layers share it."""
        if key not in self.memo:
            self.memo[key] = make()
        found: T = self.memo[key]
        return found

    def causal(self, q_len: int, k_len: int) -> Rule:
        """The same rule, without keys in a query's future; the queries are the last of the keys."""
        return self.memoize(("causal", q_len, k_len), lambda: self & causal(k_len - q_len))

    def table(self, q_len: int, k_len: int, device: torch.device) -> Tensor:
        """-> bool [batch,heads,Q,K]"""

        def make() -> Tensor:
            b, h, q, k = (torch.arange(n, device=device) for n in (self.batch, self.heads, q_len, k_len))
            seen = self.allows(b[:, None, None, None], h[:, None, None], q[:, None], k)
            return seen.expand(self.batch, self.heads, q_len, k_len).contiguous()

        return self.memoize(("table", q_len, k_len, device), make)

    def blocks(self, q_len: int, k_len: int, device: torch.device) -> BlockMask:
        """-> torch's BlockMask"""
        from torch.nn.attention.flex_attention import create_block_mask

        rows, heads = (None if n == 1 else n for n in (self.batch, self.heads))
        make = lambda: create_block_mask(self.allows, rows, heads, q_len, k_len, device=device)
        return self.memoize(("blocks", q_len, k_len, device), make)

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, *, bias: Any, causal: bool, dropout: float, softcap: Any, sinks: Any,
        scale: float | None,
    ) -> Tensor:  # fmt: skip
        """`attend` with this rule as the mask: FlexAttention if it is faster and supports all the arguments."""
        lengths = q.size(-2), k.size(-2)
        rule = self.causal(*lengths) if causal else self
        open_or_other = tracing.is_observed() or attention_kernel.attention_override is not None
        if pays(q.device, lengths[0]) and bias is None and dropout == 0.0 and not open_or_other:
            return attend_by_rule(q, k, v, rule, scale=scale, softcap=softcap, sinks=sinks)
        how = {"bias": bias, "scale": scale, "dropout": dropout, "softcap": softcap, "sinks": sinks}
        return attend(q, k, v, mask=rule.table(*lengths, q.device), **how)


def causal(past: int = 0) -> Rule:
    """Query q, at position `past` + q, sees the keys up to itself."""
    return Rule(lambda b, h, q, k: k <= q + past)


def window(left: int, right: int | None = None, past: int = 0) -> Rule:
    """Each query sees `left` keys before itself and `right` after itself; right: by default the same as left."""
    right = left if right is None else right
    return Rule(lambda b, h, q, k: (k >= q + past - left) & (k <= q + past + right))


def keys(non_padding: Tensor) -> Rule:
    """non_padding bool [B,K]: the keys that every query sees (tokens that are not padding; or Longformer's global
    tokens)
    """
    return Rule(lambda b, h, q, k: non_padding[b, k], len(non_padding))


def queries(chosen: Tensor) -> Rule:
    """chosen bool [B,Q]: the queries that see every key (Longformer's global tokens)"""
    return Rule(lambda b, h, q, k: chosen[b, q] & (k >= 0), len(chosen))


def first_keys(count: int) -> Rule:
    """Every query sees the first `count` keys (Xiao et al. 2023, arXiv:2309.17453)."""
    return Rule(lambda b, h, q, k: (k < count) & (q >= 0))


def prefix(lengths: Tensor) -> Rule:
    """Every query sees the first lengths[b] keys, int [B]: a prefix with bidirectional attention."""
    return Rule(lambda b, h, q, k: (k < lengths[b]) & (q >= 0), len(lengths))


def segments(of: Tensor) -> Rule:
    """of int [B,L], the text of each position: a query sees the keys of its own text."""
    return Rule(lambda b, h, q, k: of[b, q] == of[b, k], len(of))


class TextsRule(Rule):
    """`segments` for self-attention over whole rows, combined with any mask."""

    def __init__(self, of: Tensor) -> None:
        super().__init__(segments(of).allows, len(of))
        self.length = of.size(1)

    def combine_with(self, mask: Tensor | Rule | None, q: Tensor, k: Tensor) -> Tensor | Rule | None:
        """-> the combined rule, or mask bool [B,1,L,L]; the mask is unchanged if the length differs from that of the
        rows"""
        if not q.size(-2) == k.size(-2) == self.length:
            return mask
        if mask is None:
            return self
        if isinstance(mask, Rule):
            return self.memoize(mask, lambda: self & mask)
        table = self.table(self.length, self.length, q.device)
        return once_per_mask(mask, "texts", lambda: mask & table, beside=table)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, **how: Any) -> Tensor:
        """As the parent's, without being combined with this rule a second time."""
        with kept_rule(None):
            return super().attend(q, k, v, **how)


@contextmanager
def kept_rule(rule: TextsRule | None) -> Iterator[None]:
    """A context in which this rule is the current one, and no other."""
    before, attention_kernel.texts_rule = attention_kernel.texts_rule, rule
    try:
        yield
    finally:
        attention_kernel.texts_rule = before


def texts_apart(of: Tensor) -> AbstractContextManager[None]:
    """A context in which self-attention over whole rows is restricted to single texts.

    of int [B,L]: the text in its row to which each position belongs. It affects everything that calls `attend`; a model
    with its own kind of attention, or with states that run through a row, does not separate texts.
    """
    return kept_rule(TextsRule(of))


def chosen_blocks(seen: Tensor, size: int) -> Rule:
    """seen bool [H,N,M]: the blocks of `size` keys that a block of `size` queries sees (BigBird's random blocks)"""
    return Rule(lambda b, h, q, k: seen[h, q // size, k // size], heads=len(seen))


@cache
def _compiled() -> Callable[..., Any]:
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention)


@cache
def works_on(device: torch.device) -> bool:
    """Whether FlexAttention compiles for a device and is correct there: tried once, on a small input."""
    if device.type != "cuda":
        return False
    q, k, v = (torch.randn(1, 1, 128, 32, device=device) for _ in range(3))
    try:
        found = attend_by_rule(q, k, v, causal(), run=_compiled())
    except Exception as error:  # a compiler may raise anything, and there is a fallback
        warnings.warn(f"FlexAttention is not used, it does not compile here: {str(error)[:200]}", stacklevel=2)
        return False
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return bool(torch.allclose(found, expected, atol=1e-2))


def pays(device: torch.device, length: int) -> bool:
    """Whether a model should pass a `Rule` to its layers: on a GPU, from `SHORTEST` positions on."""
    return device.type == "cuda" and length >= SHORTEST and works_on(device)


def attend_by_rule(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    rule: Rule,
    *,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
    run: Callable[..., Any] | None = None,
) -> Tensor:
    """FlexAttention. Shapes, scale, softcap and sinks as in `attend`; run: the function that computes it, by default
    compiled -> [B,H,Q,Dv]. A query that may attend to no key gives zeros."""
    score_mod = None
    if softcap is not None:
        score_mod = lambda score, b, h, q_at, k_at: softcap * torch.tanh(score / softcap)
    blocks = rule.blocks(q.size(-2), k.size(-2), q.device)
    run = _compiled() if run is None else run
    if sinks is None:
        return run(q, k, v, score_mod, blocks, scale)
    from torch.nn.attention.flex_attention import AuxRequest

    out, beside = run(q, k, v, score_mod, blocks, scale, return_aux=AuxRequest(lse=True))
    share = (beside.lse - sinks.to(beside.lse.dtype)[:, None]).sigmoid()  # the share of the softmax without the sink
    return (out * share[..., None]).to(q.dtype)
