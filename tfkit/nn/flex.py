"""Attention masks as rules instead of tables, for FlexAttention (Dong et al. 2024, arXiv:2412.05496).

A rule is a function of positions; blocks of 128 x 128 positions in which it is False everywhere are never computed.
`attend(mask=Rule)` uses FlexAttention on a GPU if that is faster, and otherwise the mask [B,H,Q,K] that the rule
describes, computed once for all layers. A model gives its layers rules in place of masks after
`model.set_attn_implementation("flex_attention")`, wherever `is_chosen` says that FlexAttention can be used.
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
from .cache import Cache
from .mask_sharing import once_per_mask

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

T = TypeVar("T")
Function = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
SHORTEST = 1024  # queries: with fewer a full mask costs little, and compiling takes a minute


class Rule:
    """allows(b, h, q, k) -> bool, on int tensors that broadcast: whether query q of head h in row b may attend to key
    k. bias(b, h, q, k) -> float, which is added to the scaled score, or None.

    batch, heads: the numbers of rows and heads with rules of their own; 1: all share one. force: FlexAttention is used
    on a CPU too, and for any length, if no gradient is needed. Rules combine by &, which adds their biases, and by |.
    Raises ValueError for | with a bias.
    """

    def __init__(
        self, allows: Function, batch: int = 1, heads: int = 1, bias: Function | None = None, force: bool = False
    ) -> None:
        self.allows, self.batch, self.heads, self.bias, self.force = allows, batch, heads, bias, force
        self.memo: dict[Any, Any] = {}  # a cache that lives as long as the rule: one forward pass

    def __and__(self, other: Rule) -> Rule:
        one, two = self.allows, other.allows
        return self.combine(other, lambda b, h, q, k: one(b, h, q, k) & two(b, h, q, k), add(self.bias, other.bias))

    def __or__(self, other: Rule) -> Rule:
        if self.bias is not None or other.bias is not None:
            raise ValueError(
                "a rule with a bias cannot be combined by |, as it would not be clear to which scores to add the bias"
            )
        one, two = self.allows, other.allows
        return self.combine(other, lambda b, h, q, k: one(b, h, q, k) | two(b, h, q, k), None)

    def combine(self, other: Rule, allows: Function, bias: Function | None) -> Rule:
        """-> the rule with these functions, and the larger numbers of rows and heads"""
        batch, heads = max(self.batch, other.batch), max(self.heads, other.heads)
        return Rule(allows, batch, heads, bias, self.force or other.force)

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
        make = lambda: self.evaluate(self.allows, q_len, k_len, device)
        return self.memoize(("table", q_len, k_len, device), make)

    def bias_table(self, q_len: int, k_len: int, device: torch.device) -> Tensor | None:
        """-> float [batch,heads,Q,K], or None for a rule without a bias"""
        bias = self.bias
        if bias is None:
            return None
        make = lambda: self.evaluate(bias, q_len, k_len, device)
        return self.memoize(("bias", q_len, k_len, device), make)

    def evaluate(self, function: Function, q_len: int, k_len: int, device: torch.device) -> Tensor:
        """-> the function's values at all positions [batch,heads,Q,K]"""
        b, h, q, k = (torch.arange(n, device=device) for n in (self.batch, self.heads, q_len, k_len))
        values = function(b[:, None, None, None], h[:, None, None], q[:, None], k)
        return values.expand(self.batch, self.heads, q_len, k_len).contiguous()

    def blocks(self, q_len: int, k_len: int, device: torch.device) -> BlockMask:
        """-> torch's BlockMask"""
        from torch.nn.attention.flex_attention import create_block_mask  # loading it takes a second

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
        is_inspected = tracing.is_observed() or attention_kernel.attention_override is not None
        if self.is_faster(q) and bias is None and dropout == 0.0 and not is_inspected:
            return attend_by_rule(q, k, v, rule, scale=scale, softcap=softcap, sinks=sinks)
        own = rule.bias_table(*lengths, q.device)
        bias = own if bias is None else bias if own is None else bias + own
        how = {"bias": bias, "scale": scale, "dropout": dropout, "softcap": softcap, "sinks": sinks}
        return attend(q, k, v, mask=rule.table(*lengths, q.device), **how)

    def is_faster(self, q: Tensor) -> bool:
        """Whether queries [B,H,Q,D] go through FlexAttention; on a CPU it has no gradient."""
        on_cpu = self.force and q.device.type == "cpu" and not torch.is_grad_enabled()
        return on_cpu or is_worthwhile(q.device, q.size(-2))


def add(one: Function | None, two: Function | None) -> Function | None:
    """The sum of two biases, of which each may be None."""
    if one is None or two is None:
        return two if one is None else one
    return lambda b, h, q, k: one(b, h, q, k) + two(b, h, q, k)


def is_rule(mask: Any) -> bool:
    """Whether a mask is a `Rule`."""
    return isinstance(mask, Rule)


def is_chosen(model: Any, length: int, device: torch.device, cache: Any = None, dropout: float = 0.0) -> bool:
    """Whether a model's forward pass over `length` positions gives its layers rules in place of masks.

    It does if the model was set to "flex_attention" and FlexAttention can compute the result: for a whole text, with an
    empty cache or none; without a trace, an edit or a substitution; without `dropout` of the weights, in training; on a
    GPU from `SHORTEST` positions on; on a CPU, where it has no gradient, without one. Otherwise the model's masks are
    used, with the same result.
    """
    if model.attn_implementation != "flex_attention" or torch.compiler.is_compiling():
        return False
    whole = cache is None or (type(cache) is Cache and cache.length == 0)
    is_inspected = tracing.is_observed() or attention_kernel.attention_override is not None
    if not whole or is_inspected or (model.training and dropout > 0):
        return False
    return not torch.is_grad_enabled() if device.type == "cpu" else is_worthwhile(device, length)


def visible(non_padding: Tensor | None) -> Rule:
    """The rule that a model set to FlexAttention begins with: every query sees all keys that are not padding.

    non_padding bool [B,K]; None: no key is padding. FlexAttention is then used on a CPU too, uncompiled.
    """
    rule = Rule(lambda b, h, q, k: (k >= 0) & (q >= 0), force=True)
    return rule if non_padding is None else rule & keys(non_padding)


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


def segments(text_ids: Tensor) -> Rule:
    """text_ids int [B,L], the text of each position: a query sees the keys of its own text."""
    return Rule(lambda b, h, q, k: text_ids[b, q] == text_ids[b, k], len(text_ids))


class TextsRule(Rule):
    """`segments` for self-attention over whole rows, combined with any mask."""

    def __init__(self, text_ids: Tensor) -> None:
        super().__init__(segments(text_ids).allows, len(text_ids))
        self.length = text_ids.size(1)

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
        with use_rule(None):
            return super().attend(q, k, v, **how)


@contextmanager
def use_rule(rule: TextsRule | None) -> Iterator[None]:
    """A context in which this rule is the current one, and no other."""
    before, attention_kernel.texts_rule = attention_kernel.texts_rule, rule
    try:
        yield
    finally:
        attention_kernel.texts_rule = before


def separate_texts(text_ids: Tensor) -> AbstractContextManager[None]:
    """A context in which self-attention over whole rows is restricted to single texts.

    text_ids int [B,L]: the text in its row to which each position belongs ("document masking" of packed rows). It
    affects everything that calls `attend`; a model with its own kind of attention, or with states that run through a
    row, does not separate texts.
    """
    return use_rule(TextsRule(text_ids))


def chosen_blocks(visible_blocks: Tensor, size: int) -> Rule:
    """visible_blocks bool [H,N,M]: the blocks of `size` keys that a block of `size` queries sees (BigBird's random
    blocks)"""
    return Rule(lambda b, h, q, k: visible_blocks[h, q // size, k // size], heads=len(visible_blocks))


def counted_blocks(counts: Tensor, size: int, dtype: torch.dtype) -> Rule:
    """counts int64 [H,N,M]: how often a block of `size` queries sees a block of `size` keys; what it sees n times has
    n times the weight (BigBird). dtype: of the scores."""
    logs = counts.to(dtype).log()
    rule = chosen_blocks(counts > 0, size)
    rule.bias = lambda b, h, q, k: logs[h, q // size, k // size]
    return rule


def distance_bias(bias: Tensor) -> Rule:
    """bias [H,Q+K-1]: what is added to the scores of a head at the distances key - query from 1 - Q to K - 1, of as
    many queries as keys (T5); -inf hides a key."""
    last = bias.size(1) // 2  # Q - 1
    constant = bias.detach()  # FlexAttention refuses a mask with a gradient
    return Rule(
        lambda b, h, q, k: constant[h, k - q + last] > float("-inf"), heads=len(bias),
        bias=lambda b, h, q, k: bias[h, k - q + last],
    )  # fmt: skip


def key_bias(bias: Tensor) -> Rule:
    """bias [B,H,K]: what is added to all scores of a key (ALiBi: Press et al. 2021, arXiv:2108.12409)"""
    always = lambda b, h, q, k: (k >= 0) & (q >= 0)
    if len(bias) == 1:  # all rows share it
        return Rule(always, heads=bias.size(1), bias=lambda b, h, q, k: bias[0 * b, h, k])
    return Rule(always, bias.size(0), bias.size(1), lambda b, h, q, k: bias[b, h, k])


@cache
def _compile_kernel() -> Callable[..., Any]:
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention)


@cache
def is_supported(device: torch.device) -> bool:
    """Whether FlexAttention compiles for a device and is correct there: tried once, on a small input."""
    if device.type != "cuda":
        return False
    q, k, v = (torch.randn(1, 1, 128, 32, device=device) for _ in range(3))
    try:
        found = attend_by_rule(q, k, v, causal(), run=_compile_kernel())
    except Exception as error:  # a compiler may raise anything, and there is a fallback
        warnings.warn(f"FlexAttention does not compile here, so it is not used: {str(error)[:200]}", stacklevel=2)
        return False
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return bool(torch.allclose(found, expected, atol=1e-2))


def is_worthwhile(device: torch.device, length: int) -> bool:
    """Whether a model should pass a `Rule` to its layers: on a GPU, from `SHORTEST` positions on."""
    return device.type == "cuda" and length >= SHORTEST and is_supported(device)


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
    from torch.nn.attention.flex_attention import AuxRequest, flex_attention

    score_mod = make_score_mod(rule.bias, softcap)
    blocks = rule.blocks(q.size(-2), k.size(-2), q.device)
    if run is None:
        run = flex_attention if q.device.type == "cpu" else _compile_kernel()
    how: dict[str, Any] = {
        "score_mod": score_mod,
        "block_mask": blocks,
        "scale": scale,
        "enable_gqa": k.size(1) != q.size(1),
    }
    if sinks is None:
        return run(q, k, v, **how)
    out, beside = run(q, k, v, **how, return_aux=AuxRequest(lse=True))
    share = (beside.lse - sinks.to(beside.lse.dtype)[:, None]).sigmoid()  # the share of the softmax without the sink
    return (out * share[..., None]).to(q.dtype)


def make_score_mod(bias: Function | None, softcap: float | None) -> Callable[..., Tensor] | None:
    """-> FlexAttention's `score_mod`: the soft cap, then the bias; None if there is neither"""
    if bias is None and softcap is None:
        return None

    def score_mod(score: Tensor, b: Tensor, h: Tensor, q_at: Tensor, k_at: Tensor) -> Tensor:
        if softcap is not None:
            score = softcap * torch.tanh(score / softcap)
        return score if bias is None else score + bias(b, h, q_at, k_at)

    return score_mod
