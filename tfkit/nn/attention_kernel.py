"""The fused kernel that every attention calls, with the same computation step by step; a test compares the two.

In causal attention the queries are the *last* Q of the K positions, as a cache makes K larger than Q.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import tracing
from .dropout import keep_mask
from .mask_sharing import complement, once_per_mask

texts_rule: Any = None  # restricts queries to keys of their own text: see `flex.texts_apart`
# if set, it is called with the arguments of `fused_attention` in its place: see `tfkit.substitute`
attention_override: Callable[..., Any] | None = None


def causal_rows(q_len: int, k_len: int, device: torch.device | None = None) -> Tensor:
    """The last q_len rows of a causal mask over k_len positions -> bool [Q,K]. (SDPA aligns at the top left.)"""
    return torch.ones(q_len, k_len, dtype=torch.bool, device=device).tril(k_len - q_len)


def causal_and(mask: Tensor | None, q_len: int, k_len: int, device: torch.device | None = None) -> Tensor:
    """`causal_rows` combined with mask, bool [...,Q or 1,K] or None, once for all layers -> bool [...,Q,K]"""
    if mask is None:
        return causal_rows(q_len, k_len, device)
    return once_per_mask(mask, ("causal", q_len, k_len), lambda: mask & causal_rows(q_len, k_len, device))


def additive_mask(mask: Tensor, causal: bool, q_len: int, k_len: int, dtype: torch.dtype) -> Tensor:
    """The mask in the additive form of SDPA's kernels, once for all layers: SDPA converts a boolean mask at each call.

    mask bool [...,Q or 1,K or 1] -> [...,Q or 1,K or 1]: 0 where it is True and not hidden by causality, -inf elsewhere
    """

    def make() -> Tensor:
        visible = mask & causal_rows(q_len, k_len, mask.device) if causal else mask
        width = visible.size(-1)
        # padded width, without which the CUDA kernel would copy
        room = -width % 16 if mask.device.type == "cuda" and width > 1 else 0
        added = torch.zeros(*visible.shape[:-1], width + room, dtype=dtype, device=mask.device)[..., :width]
        return added.masked_fill_(~visible, float("-inf"))

    return once_per_mask(mask, ("additive", causal and (q_len, k_len), dtype), make)


def hide(bias: Tensor, mask: Tensor) -> Tensor:
    """The bias with -inf where the mask is False -> broadcast shape of both; computed once if layers share the bias"""
    make = lambda: bias.masked_fill(complement(mask), float("-inf"))
    return once_per_mask(bias, "hidden", make, beside=mask)


def empty_rows(added: Tensor) -> tuple[Tensor, Tensor] | tuple[None, None]:
    """The rows of a bias on the CPU that are entirely -inf -> bool [...,Q,1], and the bias with zeros there; (None,
    None) if there are none."""
    empty = added.detach().amax(-1, keepdim=True) == float("-inf")
    return (empty, added.masked_fill(empty, 0.0)) if empty.any() else (None, None)


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
        mask = causal_and(mask, q.size(-2), k.size(-2), q.device)
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


def attend_cpu_dropout(
    q: Tensor, k: Tensor, v: Tensor, added: Tensor | None, causal: bool, scale: float | None, dropout: float
) -> Tensor:
    """The same for training with dropout on a CPU, for which PyTorch has no fused kernel: the same steps in place, with
    the dropout bits drawn in bulk and the factor 1 / (1 - p) applied to v.

    added [.., Q, K]: a float bias with -inf at hidden keys, a bool mask, or None -> [B,H,Q,Dv]
    """
    if causal:
        added = causal_rows(q.size(-2), k.size(-2), q.device)
    if added is not None and added.dtype == torch.bool:
        added = additive_mask(added, False, q.size(-2), k.size(-2), q.dtype)
    scores = (q * (q.size(-1) ** -0.5 if scale is None else scale)) @ k.transpose(-2, -1)
    empty = None
    if added is not None:
        empty, filled = once_per_mask(added, "empty rows", lambda: empty_rows(added))  # these rows get zeros at the end
        scores.add_(added if empty is None else filled)
    weights = scores.softmax(-1)
    weights = torch.where(keep_mask(weights.shape, dropout), weights, 0.0)
    out = weights @ (v * (1 / (1 - dropout)))
    return out if empty is None else out.masked_fill(empty, 0.0)


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
    (grouped queries); mask bool, True = may attend, or a rule (`nn.flex`), and bias, added to the
    scaled scores, both broadcastable to [B,H,Q,K]; causal: each of the last Q positions attends to keys up to itself;
    scale: default 1/sqrt(D); dropout: probability for the weights, at each call (pass 0.0 outside training); softcap:
    scores s become softcap · tanh(s / softcap), before bias and mask (Gemma 2); sinks [H]: a score per head for
    attending to nothing, which takes part in the softmax (gpt-oss) -> [B,H,Q,Dv]
    A query that may attend to no key gives zeros. Raises TypeError for a mask that is not boolean.
    """
    if texts_rule is not None:
        mask = texts_rule.combine_with(mask, q, k)
    if k.size(1) != q.size(1) and not _shares_heads(q, mask, bias, dropout, softcap, sinks):
        groups = q.size(1) // k.size(1)
        k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)  # [B,H,K,·]
    if mask is not None and not isinstance(mask, torch.Tensor):
        how = {"bias": bias, "causal": causal, "scale": scale, "dropout": dropout, "softcap": softcap, "sinks": sinks}
        return mask.attend(q, k, v, **how)
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(
            f"attend: mask has dtype {mask.dtype}, must be torch.bool (True = may attend); scores go in bias"
        )
    if tracing.is_observed():
        attended = partial(_attend, q, k, v, dropout=dropout)
        return _in_the_open(
            attended, q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, softcap=softcap, sinks=sinks
        )
    return _attend(
        q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, dropout=dropout, softcap=softcap, sinks=sinks
    )


def _shares_heads(
    q: Tensor, mask: Any, bias: Tensor | None, dropout: float, softcap: float | None, sinks: Tensor | None
) -> bool:
    """Whether the fused kernel itself reads a head of keys and values for several heads of queries: what looks at
    scores, and PyTorch's kernels for a mask on a card, take a copy for each."""
    plain = bias is None and softcap is None and sinks is None and dropout == 0.0
    tables = mask is None or (isinstance(mask, Tensor) and q.device.type == "cpu")
    return plain and tables and attention_override is None and not tracing.is_observed()


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
    if softcap is not None:
        q, bias = softcap_as_bias(q, k, bias, scale, softcap)
    kernel = fused_attention if attention_override is None else attention_override
    return kernel(q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, dropout=dropout)


def append_sink_key(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None, causal: bool, sinks: Tensor
) -> tuple[Tensor, Tensor, Tensor | None, Tensor, bool]:
    """Sinks for a kernel that does not support them: one more key of zeros, with the sink as each head's bias and zero
    as its value.

    Shapes as in `attend`, sinks [H] -> k [B,H,K+1,D], v [B,H,K+1,Dv], mask bool or None, bias [B or 1,H,Q,K+1], causal
    """
    if causal:
        mask = causal_and(mask, q.size(-2), k.size(-2), q.device)
    if mask is not None:
        whole = mask.expand(*mask.shape[:-1], k.size(-2))
        mask = once_per_mask(mask, "sinks", lambda: F.pad(whole, (0, 1), value=True))
    column = sinks.to(q.dtype).view(1, -1, 1, 1).expand(1, sinks.numel(), q.size(-2), 1)
    if bias is None:
        bias = q.new_zeros(1, 1, 1, 1)
    bias = bias.to(q.dtype).expand(bias.size(0), sinks.numel(), q.size(-2), k.size(-2))
    bias = torch.cat([bias, column.expand(bias.size(0), -1, -1, -1)], dim=-1)
    return F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1)), mask, bias, False


def softcap_as_bias(
    q: Tensor, k: Tensor, bias: Tensor | None, scale: float | None, softcap: float
) -> tuple[Tensor, Tensor]:
    """A soft cap for a kernel that does not support it: queries of zeros, with the capped scores as the bias.

    -> q of zeros [B,H,Q,D], bias [B,H,Q,K]
    """
    scale = q.size(-1) ** -0.5 if scale is None else scale
    capped = softcap * (q @ k.transpose(-2, -1) * (scale / softcap)).tanh()
    return torch.zeros_like(q), capped if bias is None else capped + bias


def fused_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None,
    bias: Tensor | None,
    causal: bool,
    scale: float | None,
    dropout: float,
) -> Tensor:
    """The fused computation behind `attend`, with the same shapes, but without tracing and without the override."""
    if causal and q.size(-2) == 1:
        causal = False  # a single query is the last: it sees every key
    sizes = q.size(-2), k.size(-2)
    if bias is not None:
        own = bias
        bias = once_per_mask(own, q.dtype, lambda: own.to(q.dtype)) if own.dtype != q.dtype else own
        mask, causal = causal_and(mask, *sizes, q.device) if causal else mask, False
        mask = bias if mask is None else hide(bias, mask)
    elif mask is not None:
        mask, causal = additive_mask(mask, causal, *sizes, q.dtype), False
    elif causal and sizes[0] != sizes[1]:
        mask, causal = causal_rows(*sizes, q.device), False
    if 0.0 < dropout < 1.0 and q.device.type == "cpu" and not torch.compiler.is_compiling():
        return attend_cpu_dropout(q, k, v, mask, causal, scale, dropout)
    groups = k.size(1) != q.size(1)
    return F.scaled_dot_product_attention(q, k, v, mask, dropout, causal, scale=scale, enable_gqa=groups)


def _and_masks(mask: Tensor | None, other: Tensor) -> Tensor:
    return other if mask is None else mask & other


def _in_the_open(attended: Callable[..., Any], q: Tensor, k: Tensor, v: Tensor, **how: Any) -> Tensor:
    """For a trace or an edit: the fused kernel does not return its weights, so they are computed again step by step.

    An edit of the scores or the weights adds the difference that it makes to the kernel's own result: an edit that
    changes nothing changes no bit.
    """
    out = attended(**how)
    with torch.set_grad_enabled(tracing.editing() and torch.is_grad_enabled()):
        _, weights, scores = attend_by_hand(q, k, v, **how)
        offered = tracing.offer("scores", scores)
        changed = weights if offered is scores else _weights_of(offered, q, k, how)
        changed = tracing.offer("weights", changed)
        visible = _and_masks(how["mask"], scores != float("-inf"))
        tracing.note("seen", visible & causal_rows(q.size(-2), k.size(-2), q.device) if how["causal"] else visible)
    if changed is not weights:
        out = out + (changed - weights) @ v
    return tracing.offer("per_head", out)


def _weights_of(scores: Tensor, q: Tensor, k: Tensor, how: dict[str, Any]) -> Tensor:
    """The weights [B,H,Q,K] that follow from edited scores [B,H,Q,K], with the same mask and sinks."""
    none = torch.zeros_like(k)
    return attend_by_hand(q, none, none, **{**how, "bias": scores, "softcap": None})[1]
