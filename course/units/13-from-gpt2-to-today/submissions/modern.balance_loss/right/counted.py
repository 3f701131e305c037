import torch


def balance_loss(logits, k):
    tokens, experts = logits.shape
    chosen = logits.topk(k).indices.flatten()
    counts = torch.bincount(chosen, minlength=experts)
    fractions = counts.to(logits.dtype) / (tokens * k)
    return experts * torch.dot(fractions, logits.softmax(dim=-1).mean(dim=0))
