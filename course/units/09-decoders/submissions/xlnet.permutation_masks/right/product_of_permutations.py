import torch


def permutation_masks(order):
    moved = torch.nn.functional.one_hot(order, len(order)).double()  # row t: which position comes at step t
    causal = torch.ones_like(moved).tril()
    content = moved.T @ causal @ moved > 0.5
    query = moved.T @ causal.tril(-1) @ moved > 0.5
    return content, query
