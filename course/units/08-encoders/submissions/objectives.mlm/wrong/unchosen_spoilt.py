"""You mask and swap words that were not chosen; the second draw decides only among those that the first one took."""

import torch


def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = (select_u < rate) & ~special
    masked = ~special & (kind_u < 0.8)
    swapped = ~special & (kind_u >= 0.8) & (kind_u < 0.9)
    inputs = torch.where(swapped, random_ids, ids.masked_fill(masked, mask_id))
    return inputs, ids.masked_fill(~chosen, -100)
