"""No chosen word stays as it is: all those that are not masked become another word."""

import torch


def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = (select_u < rate) & ~special
    masked = chosen & (kind_u < 0.8)
    inputs = torch.where(chosen & ~masked, random_ids, ids.masked_fill(masked, mask_id))
    return inputs, ids.masked_fill(~chosen, -100)
