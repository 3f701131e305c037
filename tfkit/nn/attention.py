"""Multi-head attention (Vaswani et al. 2017, section 3.2): step by step, and as the module that the models use, whose
fused computation is in `attention_kernel`; a test compares the two.

In causal attention the queries are the *last* Q of the K positions, as a cache makes K larger than Q.
"""

import math
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import tracing
from . import attention_kernel
from .attention_kernel import (
    added_to_scores,
    append_sink_key,
    attend_cpu_in_place,
    causal_rows,
    fused_attention,
    kernel_shares_heads,
    runs_by_hand,
    softcap_as_bias,
)
from .attention_shapes import require_shapes

if TYPE_CHECKING:
    from .cache import Cache


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """softmax(q kᵀ / sqrt(D)) v, over the keys that the mask lets each query see (Vaswani et al. 2017, 3.2.1).

    q [...,Q,D], k [...,K,D], v [...,K,Dv], mask bool, broadcastable to [...,Q,K], True = may attend
    -> (output [...,Q,Dv], weights [...,Q,K])
    A query that may attend to nothing gets zero weights and a zero output, with no NaN in any gradient.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [...,Q,K]
    if mask is None:
        weights = scores.softmax(-1)
    else:
        empty = ~mask.any(-1, keepdim=True)  # softmax over nothing is 0/0: such rows are replaced before and after
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    return weights @ v, weights


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Split the model width into heads: head h is columns h*D to (h+1)*D-1.

    x [B,L,E] -> [B,H,L,D] with E = H*D
    """
    if x.dim() != 3 or heads < 1 or x.size(2) % heads:
        raise ValueError(f"split_heads: x is {[*x.shape]}, must be [B,L,E] with an E that {heads} heads divide")
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Concatenate the heads again: the inverse of `split_heads`.

    x [B,H,L,D] -> [B,L,E] with E = H*D
    """
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * width)


class MultiHeadAttention(nn.Module):
    """Several attentions in parallel, each in its own subspace (Vaswani et al. 2017, 3.2.2).

    Submodules q_proj, k_proj, v_proj, o_proj: nn.Linear(d_model, d_model).
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """query [B,Q,E], key and value [B,K,E], mask broadcastable to [B,H,Q,K]
        -> (output [B,Q,E], weights [B,H,Q,K])"""
        q = split_heads(self.q_proj(query), self.n_heads)  # [B,H,Q,D]
        k = split_heads(self.k_proj(key), self.n_heads)
        v = split_heads(self.v_proj(value), self.n_heads)
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(output)), weights


def attend_by_hand(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """softmax(q kᵀ scale + bias) v, step by step.

    Shapes as in `attend` -> (output [B,H,Q,Dv], weights [B,H,Q,K] before dropout, scores [B,H,Q,K] before the mask)
    """
    scale = q.size(-1) ** -0.5 if scale is None else scale
    scores = q @ k.transpose(-2, -1) * scale  # [B,H,Q,K]
    if softcap is not None:
        scores = softcap * (scores / softcap).tanh()
    if bias is not None:
        scores = scores + bias
    if causal:
        rows = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool, device=q.device).tril(k.size(-2) - q.size(-2))
        mask = rows if mask is None else mask & rows
    if sinks is not None:
        hidden = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
        column = sinks.to(scores.dtype)[:, None, None].expand(*scores.shape[:-1], 1)  # [B,H,Q,1]
        weights = torch.cat([hidden, column], dim=-1).softmax(-1)[..., :-1]
    elif mask is None and bias is None:
        weights = scores.softmax(-1)
    else:
        masked_scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
        empty = (masked_scores == float("-inf")).all(-1, keepdim=True)  # such a row gives zeros, as in SDPA
        weights = masked_scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
    return F.dropout(weights, dropout, dropout > 0) @ v, weights, scores


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """Scaled dot-product attention, fused (Vaswani et al. 2017, 3.2.1).

    q [B,H,Q,D], k [B,H,K,D], v [B,H,K,Dv], or with fewer heads, each of which H / G neighbouring queries' heads read
    (grouped queries); mask bool, True = may attend, and bias, added to the scaled scores, both
    broadcastable to [B,H,Q,K], or rules (`nn.flex`); causal: each of the last Q positions attends to keys up to itself;
    scale: default 1/sqrt(D); dropout: probability for the weights, at each call (pass 0.0 outside training); softcap:
    scores s become softcap · tanh(s / softcap), before bias and mask (Gemma 2); sinks [H]: a score per head for
    attending to nothing, which takes part in the softmax (gpt-oss) -> [B,H,Q,Dv]
    A query that may attend to no key gives zeros. Raises TypeError for a mask that is not boolean, and ValueError for
    shapes that do not fit together.
    """
    if attention_kernel.texts_rule is not None:
        mask = attention_kernel.texts_rule.combine_with(mask, q, k)
    if bias is not None and not isinstance(bias, torch.Tensor):  # a rule
        mask, bias = bias if mask is None else mask & bias, None
    if mask is not None and not isinstance(mask, torch.Tensor):
        return mask.attend(
            q, k, v, bias=bias, causal=causal, scale=scale, dropout=dropout, softcap=softcap, sinks=sinks
        )
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(
            f"attend: mask has dtype {mask.dtype}, must be torch.bool (True = may attend); scores go in bias"
        )
    if torch.compiler.is_compiling():  # where sizes are symbols, and each comparison a guard
        return _attend_tensors(
            q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, dropout=dropout, softcap=softcap, sinks=sinks
        )
    if not q.dim() == k.dim() == v.dim() == 4 or k.size(2) != v.size(2):  # some kernels would give numbers
        require_shapes(q, k, v, mask, bias)
    try:
        return _attend_tensors(
            q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, dropout=dropout, softcap=softcap, sinks=sinks
        )
    except RuntimeError:  # looked into now, since a step of decoding has no time to compare shapes
        require_shapes(q, k, v, mask, bias)
        raise


def _attend_tensors(
    q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor | None, bias: Tensor | None, causal: bool, scale: float | None,
    dropout: float, softcap: float | None, sinks: Tensor | None,
) -> Tensor:  # fmt: skip
    """As `attend`, for a mask and a bias that are tensors or None."""
    if k.size(1) != q.size(1) and not kernel_shares_heads(q, mask, bias, dropout, softcap, sinks):
        groups = q.size(1) // k.size(1)
        k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)  # [B,H,K,·]
    out = _attend(
        q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, dropout=dropout, softcap=softcap, sinks=sinks
    )
    if not tracing.is_observed():
        return out
    return _observe(out, q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, softcap=softcap, sinks=sinks)


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None,
    bias: Tensor | None,
    causal: bool,
    scale: float | None,
    dropout: float,
    softcap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """Expresses sinks and a soft cap in terms of the fused kernel, or of the override that replaces it."""
    if sinks is not None:
        k, v, mask, bias, causal = append_sink_key(q, k, v, mask, bias, causal, sinks)
    override = attention_kernel.attention_override
    if softcap is not None and override is None and dropout < 1.0 and runs_by_hand(q):
        return attend_cpu_in_place(q, k, v, *added_to_scores(q, k, mask, bias, causal), scale, dropout, softcap)
    if softcap is not None:
        q, bias = softcap_as_bias(q, k, bias, scale, softcap)
    kernel = fused_attention if override is None else override
    return kernel(q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, dropout=dropout)


def _observe(
    out: Tensor, q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor | None, bias: Tensor | None, causal: bool,
    scale: float | None, softcap: float | None, sinks: Tensor | None,
) -> Tensor:  # fmt: skip
    """The fused kernel's output, offered to a trace or an edit. The kernel does not return its weights, so they are
    computed again step by step.

    An edit of the scores or the weights adds the difference that it makes to the kernel's own result: an edit that
    changes nothing changes no bit.
    """
    with torch.set_grad_enabled(tracing.editing() and torch.is_grad_enabled()):
        _, weights, scores = attend_by_hand(
            q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, softcap=softcap, sinks=sinks
        )
        offered = tracing.offer("scores", scores)
        changed = weights
        if offered is not scores:
            changed = _weights_of(offered, q, k, mask=mask, causal=causal, scale=scale, sinks=sinks)
        changed = tracing.offer("weights", changed)
        visible = _and_masks(mask, scores != float("-inf"))
        tracing.note("seen", visible & causal_rows(q.size(-2), k.size(-2), q.device) if causal else visible)
    if changed is not weights:
        out = out + (changed - weights) @ v
    return tracing.offer("per_head", out)


def _and_masks(mask: Tensor | None, other: Tensor) -> Tensor:
    return other if mask is None else mask & other


def _weights_of(
    scores: Tensor, q: Tensor, k: Tensor, *, mask: Tensor | None, causal: bool, scale: float | None,
    sinks: Tensor | None,
) -> Tensor:  # fmt: skip
    """The weights [B,H,Q,K] that follow from edited scores [B,H,Q,K], with the same mask and sinks."""
    none = torch.zeros_like(k)
    return attend_by_hand(q, none, none, mask=mask, bias=scores, causal=causal, scale=scale, sinks=sinks)[1]


def concat_neighbours(blocks: Tensor, before: int, after: int) -> Tensor:
    """Each block joined with the `before` blocks before it and the `after` after it; the ends wrap around.

    blocks [B,N,W,...] -> [B,N,(before+1+after)·W,...]
    """
    return torch.cat([blocks.roll(-shift, 1) for shift in range(-before, after + 1)], dim=2)


def chunked_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor, *, before: int = 1, after: int = 1, dropout: float = 0.0
) -> Tensor:
    """Attention in chunks, in memory linear in L: each chunk of queries meets its own keys and those of a few chunks
    around it; the first and the last chunk are neighbours.

    q, k, v [B,L,H,D], mask [B,N,W,(before+1+after)·W] -> [B,L,H·D]
    """
    batch, length, heads, width = q.shape
    chunks, size = mask.shape[1:3]
    q, k, v = (F.pad(x, (0, 0, 0, 0, 0, -length % size)).unflatten(1, (chunks, size)) for x in (q, k, v))
    k, v = concat_neighbours(k, before, after), concat_neighbours(v, before, after)  # [B,N,3W,H,D]
    q, k, v = (x.flatten(0, 1).transpose(1, 2) for x in (q, k, v))  # [B·N,H,W,D]: each chunk is a separate row
    out = attend(q, k, v, mask=mask.flatten(0, 1)[:, None], dropout=dropout)
    return out.transpose(1, 2).reshape(batch, -1, heads * width)[:, :length]


class Projections(nn.Module):
    """The four linear layers of every kind of multi-head attention; the computation between them differs.

    d_head: default E / H. bias: of q_proj, k_proj and v_proj; out_bias: of o_proj, by default the same as `bias`.
    dropout: on the weights, in training. Raises ValueError if the number of heads does not divide the width.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_head: int | None = None,
        bias: bool = True,
        out_bias: bool | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if d_head is None and d_model % n_heads:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        inner = n_heads * (d_head or d_model // n_heads)
        self.n_heads, self.dropout = n_heads, dropout
        self.q_proj = nn.Linear(d_model, inner, bias=bias)
        self.k_proj = nn.Linear(d_model, inner, bias=bias)
        self.v_proj = nn.Linear(d_model, inner, bias=bias)
        self.o_proj = nn.Linear(inner, d_model, bias=bias if out_bias is None else out_bias)

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x [B,L,E] -> q, k, v [B,H,L,D]"""
        q = split_heads(self.q_proj(x), self.n_heads)
        return q, split_heads(self.k_proj(x), self.n_heads), split_heads(self.v_proj(x), self.n_heads)

    def dropout_now(self) -> float:
        """The dropout probability of the weights: 0 outside training."""
        return self.dropout if self.training else 0.0


class Attention(Projections):
    """Multi-head attention: over x itself, or over `memory` if it is given.

    causal: positions attend to themselves and earlier ones. scale: default 1/sqrt(d_head). Otherwise as `Projections`.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_head: int | None = None,
        bias: bool = True,
        out_bias: bool | None = None,
        dropout: float = 0.0,
        causal: bool = False,
        scale: float | None = None,
    ) -> None:
        super().__init__(d_model, n_heads, d_head=d_head, bias=bias, out_bias=out_bias, dropout=dropout)
        self.causal, self.scale = causal, scale

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        cache: "Cache | None" = None,
    ) -> Tensor:
        """x [B,Q,E], memory [B,K,E], mask and bias broadcastable to [B,H,Q,K], cache: `Cache` or None -> [B,Q,E]"""
        q = split_heads(self.q_proj(x), self.n_heads)  # [B,H,Q,D]
        k, v = self.keys_values(x, memory, cache)
        causal = self.causal
        if cache is not None and memory is None:
            mask, causal = cache.apply_mask(mask, causal, x.size(1), x.device)
        dropout = self.dropout_now()
        out = attend(q, k, v, mask=mask, bias=bias, causal=causal, scale=self.scale, dropout=dropout)
        return self.o_proj(merge_heads(out))

    def keys_values(self, x: Tensor, memory: Tensor | None, cache: "Cache | None") -> tuple[Tensor, Tensor]:
        """-> k, v [B,H,K,D]; memory does not change during decoding, so it is projected once."""
        if memory is not None and cache is not None and self in cache.cross_attention:
            return cache.cross_attention[self]
        source = x if memory is None else memory
        k, v = split_heads(self.k_proj(source), self.n_heads), split_heads(self.v_proj(source), self.n_heads)
        if cache is None:
            return k, v
        if memory is None:
            return cache.extend(self, k, v)
        cache.cross_attention[self] = k, v
        return k, v
