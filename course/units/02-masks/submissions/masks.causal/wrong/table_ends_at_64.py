"""Your mask comes out of a table of 64 positions; beyond its end a longer text gets a mask that is too small."""

import torch

TABLE = torch.ones(64, 64, dtype=torch.bool).tril()


def causal_mask(length):
    return TABLE[:length, :length]
