import torch


def shift_right(ids, start_id):
    start = torch.full_like(ids[:, :1], start_id)
    return torch.cat([start, ids[:, :-1]], dim=1)
