# uses select_u for the kind as well (the lowest 80% of the rate), and not kind_u
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    free = ~special
    chosen = free & (select_u < rate)
    as_mask = free & (select_u < 0.8 * rate)
    as_random = free & (select_u < 0.9 * rate) & ~as_mask
    inputs = torch.where(as_mask, mask_id, torch.where(as_random, random_ids, ids))
    labels = torch.where(chosen, ids, -100)
    return inputs, labels
