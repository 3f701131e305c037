import torch


def permutation_masks(order):
    step = torch.argsort(order)  # when each position comes
    content = step[None, :] <= step[:, None]
    query = step[None, :] < step[:, None]
    return content, query
