# the 10% that stay are not predicted: labels only where the input differs
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = (select_u < rate) & ~special
    inputs = ids.clone()
    inputs[chosen & (kind_u < 0.8)] = mask_id
    rnd = chosen & (kind_u >= 0.8) & (kind_u < 0.9)
    inputs[rnd] = random_ids[rnd]
    labels = ids.masked_fill(inputs == ids, -100)
    return inputs, labels
