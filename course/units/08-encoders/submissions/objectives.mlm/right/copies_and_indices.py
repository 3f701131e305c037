def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    inputs, labels = ids.clone(), ids.clone()
    chosen = select_u < rate
    chosen[special] = False
    labels[~chosen] = -100
    inputs[chosen & (kind_u < 0.9)] = random_ids[chosen & (kind_u < 0.9)]
    inputs[chosen & (kind_u < 0.8)] = mask_id
    return inputs, labels
