"""You cut the causal part of your mask out of a fixed table of 512 positions, so a longer text raises an error."""

import torch

TABLE = torch.ones(512, 512, dtype=torch.bool).tril()


def decoder_mask(ids, pad_id):
    length = ids.size(1)
    return TABLE[:length, :length].to(ids.device) & (ids != pad_id)[:, None, None, :]
