import torch


def permutation_masks(order):
    length = order.size(0)
    step = torch.zeros_like(order).scatter(0, order, torch.arange(length, device=order.device))
    triangle = torch.ones(length, length, dtype=torch.bool, device=order.device).tril()
    content = triangle[step][:, step]
    return content, content & ~torch.eye(length, dtype=torch.bool, device=order.device)
