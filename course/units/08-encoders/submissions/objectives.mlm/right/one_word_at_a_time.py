import torch


def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    inputs, labels = ids.clone(), torch.full_like(ids, -100)
    for b in range(ids.shape[0]):
        for s in range(ids.shape[1]):
            if special[b, s] or select_u[b, s] >= rate:
                continue
            labels[b, s] = ids[b, s]
            if kind_u[b, s] < 0.8:
                inputs[b, s] = mask_id
            elif kind_u[b, s] < 0.9:
                inputs[b, s] = random_ids[b, s]
    return inputs, labels
