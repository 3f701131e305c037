"""Who may look at whom. A mask is boolean, True = may attend, and broadcasts to the scores [B,H,Q,K]."""

import torch


def causal_mask(length):
    """Position i may attend to position j if j comes no later than i.

    length int -> bool [L,L]
    """
    return torch.ones(length, length, dtype=torch.bool).tril()


def padding_mask(ids, pad_id):
    """Every position may attend to every real token, and none may attend to padding.

    ids [B,S] -> bool [B,1,1,S], which broadcasts over heads and queries
    """
    return (ids != pad_id)[:, None, None, :]


def decoder_mask(ids, pad_id):
    """Both at once: neither the future nor padding. Only key columns are hidden; query rows are left alone.

    ids [B,T] -> bool [B,1,T,T]
    """
    return causal_mask(ids.size(1)).to(ids.device) & padding_mask(ids, pad_id)


def masked_softmax(scores, mask):
    """Softmax over the keys that a query may attend to; the others get exactly zero.

    scores [...,Q,K], mask bool, broadcastable to it, True = may attend -> weights [...,Q,K]
    A row that may attend to nothing is all zeros, with no NaN in the result or in any gradient.
    """
    empty = ~mask.any(-1, keepdim=True)  # softmax over nothing is 0/0: such rows are set apart, before and after
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return scores.softmax(-1).masked_fill(empty, 0.0)
