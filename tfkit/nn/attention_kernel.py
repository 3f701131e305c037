"""The fused computation behind `attention.attend`: the same numbers as `attend_by_hand`, in less time and memory.

In causal attention the queries are the *last* Q of the K positions, as a cache makes K larger than Q.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import tracing
from .dropout import apply_dropout
from .mask_sharing import complement, once_per_mask

texts_rule: Any = None  # restricts queries to keys of their own text: see `flex.separate_texts`
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
        """-> the additive mask [...,Q or 1,K or 1]"""
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


def attend_cpu_in_place(
    q: Tensor, k: Tensor, v: Tensor, added: Tensor | None, causal: bool, scale: float | None, dropout: float,
    softcap: float | None = None,
) -> Tensor:  # fmt: skip
    """The same with dropout or a soft cap on a CPU, for which PyTorch has no fused kernel: the same steps in place,
    with the dropout bits drawn in bulk.

    added [.., Q, K]: a float bias with -inf at hidden keys, a bool mask, or None -> [B,H,Q,Dv]
    """
    if causal:
        added = causal_rows(q.size(-2), k.size(-2), q.device)
    if added is not None and added.dtype == torch.bool:
        added = additive_mask(added, False, q.size(-2), k.size(-2), q.dtype)
    scale = q.size(-1) ** -0.5 if scale is None else scale
    scores = (q * (scale / (softcap or 1.0))) @ k.transpose(-2, -1)
    if softcap is not None:
        scores = softcap * scores.tanh_()
    empty = None
    if added is not None:
        empty, filled = once_per_mask(added, "empty rows", lambda: empty_rows(added))  # these rows get zeros at the end
        scores.add_(added if filled is None else filled)
    out = apply_dropout(scores.softmax(-1), dropout) @ v
    return out if empty is None else out.masked_fill(empty, 0.0)


def kernel_shares_heads(
    q: Tensor, mask: Any, bias: Tensor | None, dropout: float, softcap: float | None, sinks: Tensor | None
) -> bool:
    """Whether the fused kernel itself shares a head of keys and values among several heads of queries: whatever reads
    scores, and PyTorch's kernels for a mask on a GPU, need a copy for each."""
    plain = bias is None and softcap is None and sinks is None and dropout == 0.0
    tables = mask is None or (isinstance(mask, Tensor) and q.device.type == "cpu")
    return plain and tables and attention_override is None and not tracing.is_observed()


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
    added, causal = added_to_scores(q, k, mask, bias, causal)
    if 0.0 < dropout < 1.0 and runs_by_hand(q):
        return attend_cpu_in_place(q, k, v, added, causal, scale, dropout)
    groups = {"enable_gqa": True} if k.size(1) != q.size(1) else {}  # of dynamic sizes the comparison is a symbol
    return F.scaled_dot_product_attention(q, k, v, added, dropout, causal, scale=scale, **groups)


def runs_by_hand(q: Tensor) -> bool:
    """Whether `attend_cpu_in_place` computes dropout and soft caps: on a CPU, and not in a graph."""
    return q.device.type == "cpu" and not torch.compiler.is_compiling()


def added_to_scores(
    q: Tensor, k: Tensor, mask: Tensor | None, bias: Tensor | None, causal: bool
) -> tuple[Tensor | None, bool]:
    """Mask, bias and causality in the terms of PyTorch's kernels -> a bool mask, or what is added to the scores
    [...,Q,K], or None; and the kernel's own flag for causality."""
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
    return mask, causal
