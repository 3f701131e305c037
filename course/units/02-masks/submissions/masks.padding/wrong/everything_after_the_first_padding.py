"""You hide everything after the first padding word, real words too; padding may stand in front."""

import torch


def padding_mask(ids, pad_id):
    real = (ids != pad_id).long().cumprod(dim=1).bool()
    return real[:, None, None, :]
