"""The causal part of your mask comes out of a table of 512 positions; a longer text does not fit it."""

import torch

TABLE = torch.ones(512, 512, dtype=torch.bool).tril()


def decoder_mask(ids, pad_id):
    length = ids.size(1)
    return TABLE[:length, :length].to(ids.device) & (ids != pad_id)[:, None, None, :]
