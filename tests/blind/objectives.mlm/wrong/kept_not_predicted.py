# gives labels only where the input was changed, so the chosen words that stay are not predicted
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    selected = (select_u < rate) & ~special
    inputs = ids.clone()
    labels = torch.full_like(ids, -100)

    to_mask = selected & (kind_u < 0.8)
    labels[to_mask] = ids[to_mask]
    inputs[to_mask] = mask_id

    to_random = selected & (kind_u >= 0.8) & (kind_u < 0.9)
    labels[to_random] = ids[to_random]
    inputs[to_random] = random_ids[to_random]
    return inputs, labels
