"""Which query may attend to which key. A mask is boolean, True = may attend, and broadcasts to the scores [B,H,Q,K]."""

import torch
from torch import Tensor


def causal_mask(length: int) -> Tensor:
    """Position i may attend to position j if j comes no later than i.

    length int -> bool [L,L]
    """
    return torch.ones(length, length, dtype=torch.bool).tril()


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Every position may attend to every real token, and none may attend to padding.

    ids [B,S] -> bool [B,1,1,S], which broadcasts over heads and queries
    """
    return (ids != pad_id)[:, None, None, :]


def decoder_mask(ids: Tensor, pad_id: int) -> Tensor:
    """The causal and the padding mask combined. Only key columns are hidden; rows of padding queries stay.

    ids [B,T] -> bool [B,1,T,T]
    """
    return causal_mask(ids.size(1)).to(ids.device) & padding_mask(ids, pad_id)


def prefix_lm_mask(prefix_lengths: Tensor, length: int) -> Tensor:
    """A mask that is bidirectional over a prefix and causal over the rest.

    prefix_lengths int64 [B], each from 0 to length; length int -> bool [B,1,L,L], which broadcasts over heads: the
    first prefix_lengths[b] positions see one another, all others see earlier positions (Raffel et al. 2020, figure 4)
    """
    position = torch.arange(length, device=prefix_lengths.device)
    causal = position[None, :] <= position[:, None]  # [L,L]
    prefix = position < prefix_lengths[:, None]  # [B,L]: the keys that every query may see
    return (causal | prefix[:, None, :])[:, None]


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the keys that a query may attend to; the others get exactly zero.

    scores [...,Q,K], mask bool, broadcastable to it, True = may attend -> weights [...,Q,K]
    A row that may attend to nothing is all zeros, with no NaN in the result or in any gradient.
    """
    empty = ~mask.any(-1, keepdim=True)  # softmax over nothing is 0/0: such rows are replaced before and after
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return scores.softmax(-1).masked_fill(empty, 0.0)
