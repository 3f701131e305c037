import torch


def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    inputs, labels = ids.clone(), torch.full_like(ids, -100)
    for place in ((select_u < rate) & ~special).nonzero().tolist():
        place = tuple(place)
        if kind_u[place] < 0.8:
            inputs[place] = mask_id
        elif kind_u[place] < 0.9:
            inputs[place] = random_ids[place]
        labels[place] = inputs[place]
    return inputs, labels
