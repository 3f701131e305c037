import torch


def decoder_mask(ids, pad_id):
    position = torch.arange(ids.shape[1], device=ids.device)
    past = position.unsqueeze(0) <= position.unsqueeze(1)
    return torch.logical_and(past, ids.ne(pad_id)[:, None, None])
