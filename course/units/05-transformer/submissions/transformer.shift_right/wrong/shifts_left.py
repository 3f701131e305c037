"""You shift to the left: each position is fed the word after the one it is to predict.

Position t has to predict word t from the words before it."""

import torch


def shift_right(ids, start_id):
    start = torch.full_like(ids[:, :1], start_id)
    return torch.cat([ids[:, 1:], start], dim=1)
