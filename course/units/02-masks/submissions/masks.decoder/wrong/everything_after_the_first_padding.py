"""You hide everything after the first padding word, real words too; padding may stand in front."""

import torch


def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    past = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
    real = (ids != pad_id).long().cumprod(dim=1).bool()
    return past & real[:, None, None, :]
