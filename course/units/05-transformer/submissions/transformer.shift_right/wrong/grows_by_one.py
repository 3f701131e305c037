"""Your result is one longer than the target; something has to leave at the other end.

Nothing is predicted after the last word, so the decoder need not read it."""

import torch


def shift_right(ids, start_id):
    start = torch.full_like(ids[:, :1], start_id)
    return torch.cat([start, ids], dim=1)
