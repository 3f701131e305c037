import torch


def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    real = (ids != pad_id)[:, None, None, :].expand(-1, 1, length, length)
    return torch.tril(real)
