"""Shorter sequences: neighbours averaged (Dai et al. 2020, Funnel-Transformer)."""

import torch.nn.functional as F
from torch import Tensor


def pool_sequence(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Half as many positions: each is the mean of the real tokens of a pair (Dai et al. 2020, 2.2).

    x [B,L,E], mask bool [B,L], True = a real token -> (x [B,ceil(L/2),E], mask bool [B,ceil(L/2)])
    A pair of padding gives zeros and counts as padding. (The published code and the model average padding too.)
    """
    if x.size(1) % 2:  # the last has no neighbour
        x, mask = F.pad(x, (0, 0, 0, 1)), F.pad(mask, (0, 1))
    pairs = x.masked_fill(~mask[..., None], 0.0).unflatten(1, (-1, 2))  # [B,L/2,2,E]
    non_padding = mask.unflatten(1, (-1, 2))  # [B,L/2,2]
    return pairs.sum(2) / non_padding.sum(2, keepdim=True).clamp(min=1), non_padding.any(2)
