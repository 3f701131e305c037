import torch


def shift_right(ids, start_id):
    shifted = torch.roll(ids, shifts=1, dims=1)
    shifted[:, 0] = start_id
    return shifted
