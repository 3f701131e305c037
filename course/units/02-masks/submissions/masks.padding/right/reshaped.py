import torch


def padding_mask(ids, pad_id):
    batch, length = ids.shape
    return ids.ne(pad_id).reshape(batch, 1, 1, length)
