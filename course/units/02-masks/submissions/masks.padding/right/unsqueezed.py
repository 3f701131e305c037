import torch


def padding_mask(ids, pad_id):
    real = ~torch.eq(ids, pad_id)
    return real.unsqueeze(1).unsqueeze(1)
