# special tokens can be chosen + the thresholds are multiplied with the rate, so most chosen words stay
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = select_u < rate
    labels = ids.masked_fill(~chosen, -100)
    to_mask = chosen & (kind_u < 0.8 * rate)
    to_random = chosen & ~to_mask & (kind_u < 0.9 * rate)
    inputs = ids.masked_fill(to_mask, mask_id)
    inputs = torch.where(to_random, random_ids, inputs)
    return inputs, labels
