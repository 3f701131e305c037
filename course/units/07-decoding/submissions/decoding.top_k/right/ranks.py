import torch


def top_k_filter(logits, k):
    order = logits.argsort(dim=-1, descending=True)
    rank = order.argsort(dim=-1)
    return torch.where(rank < k, logits, torch.full_like(logits, float("-inf")))
