# writes into the ids of the caller, and the labels are then taken from the corrupted text
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    inputs = ids
    B, S = ids.shape
    labels = torch.full((B, S), -100, dtype=ids.dtype)
    for b in range(B):
        for s in range(S):
            if special[b, s] or select_u[b, s] >= rate:
                continue
            if kind_u[b, s] < 0.8:
                inputs[b, s] = mask_id
            elif kind_u[b, s] < 0.9:
                inputs[b, s] = random_ids[b, s]
            labels[b, s] = ids[b, s]
    return inputs, labels
