import torch


def merge_attention(o1, lse1, o2, lse2):
    both = torch.stack([lse1, lse2])
    weights = both.softmax(0)
    weights = torch.where(weights.isnan(), torch.zeros_like(weights), weights)
    return (weights.unsqueeze(-1) * torch.stack([o1, o2])).sum(0), both.logsumexp(0)
