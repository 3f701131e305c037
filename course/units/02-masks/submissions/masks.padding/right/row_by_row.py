import torch


def padding_mask(ids, pad_id):
    rows = [[[[int(word) != pad_id for word in row]]] for row in ids]
    return torch.tensor(rows, dtype=torch.bool, device=ids.device)
