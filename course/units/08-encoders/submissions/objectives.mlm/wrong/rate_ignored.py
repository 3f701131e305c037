"""You always choose 15 percent, whatever rate you were given."""

import torch


def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = (select_u < 0.15) & ~special
    masked = chosen & (kind_u < 0.8)
    swapped = chosen & (kind_u >= 0.8) & (kind_u < 0.9)
    inputs = torch.where(swapped, random_ids, ids.masked_fill(masked, mask_id))
    return inputs, ids.masked_fill(~chosen, -100)
