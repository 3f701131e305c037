"""Only the masked words have a label; the swapped and the kept ones were chosen too, and are to be found again."""

import torch


def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = (select_u < rate) & ~special
    masked = chosen & (kind_u < 0.8)
    swapped = chosen & (kind_u >= 0.8) & (kind_u < 0.9)
    inputs = torch.where(swapped, random_ids, ids.masked_fill(masked, mask_id))
    return inputs, ids.masked_fill(~masked, -100)
