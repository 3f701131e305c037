"""Recurrence, and the attention that was first added to it (Bahdanau et al. 2015, Luong et al. 2015)."""

import torch
from torch import Tensor


def rnn_cell(x: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """One step of a plain recurrent network (Elman 1990): the next hidden state from the input and the last state.

    x [B,E], h [B,H], w_x [E,H], w_h [H,H], b [H] -> [B,H], which is tanh(x w_x + h w_h + b)
    """
    return torch.tanh(x @ w_x + h @ w_h + b)


def rnn_encode(x: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """Run the cell over a whole sentence, starting from a state of zeros, and keep every hidden state.

    x [B,S,E], w_x [E,H], w_h [H,H], b [H] -> [B,S,H]
    """
    h = x.new_zeros(x.size(0), w_h.size(0))
    states = []
    for t in range(x.size(1)):  # step t needs the state of step t - 1: nothing here can run in parallel
        h = rnn_cell(x[:, t], h, w_x, w_h, b)
        states.append(h)
    return torch.stack(states, dim=1)


def attend(query: Tensor, keys: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Unscaled dot-product attention of one decoder state over all encoder states (Luong et al. 2015).

    query [B,H], keys [B,S,H], mask bool [B,S], True = may attend -> (context [B,H], weights [B,S])
    A row of the mask without any True gives zero weights and a zero context.
    """
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1)  # [B,S]
    empty = ~mask.any(-1, keepdim=True)  # softmax over nothing is 0/0: such rows are replaced before and after
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    weights = scores.softmax(-1).masked_fill(empty, 0.0)
    context = (weights.unsqueeze(1) @ keys).squeeze(1)  # [B,1,S] @ [B,S,H]
    return context, weights
