"""The last word comes back at the front, where the start symbol belongs.

The first position then sees the end of the sentence, which does not exist yet when decoding."""

import torch


def shift_right(ids, start_id):
    return torch.roll(ids, shifts=1, dims=1)
