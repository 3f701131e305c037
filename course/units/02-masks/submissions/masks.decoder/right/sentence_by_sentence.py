import torch


def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    mask = torch.zeros(len(ids), 1, length, length, dtype=torch.bool, device=ids.device)
    for row, sentence in enumerate(ids):
        for query in range(length):
            mask[row, 0, query, : query + 1] = sentence[: query + 1] != pad_id
    return mask
