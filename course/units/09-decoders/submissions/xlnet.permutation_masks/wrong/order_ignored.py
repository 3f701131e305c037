"""Your masks go from left to right, whatever the order.

That is a decoder like GPT. Here the order says what has been predicted already."""

import torch


def permutation_masks(order):
    step = torch.arange(len(order), device=order.device)
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    return content, query
