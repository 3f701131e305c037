import torch


def balance_loss(logits, k):
    tokens, experts = logits.shape
    mask = torch.zeros_like(logits).scatter(1, logits.argsort(dim=1, descending=True)[:, :k], 1.0)
    fraction = mask.mean(dim=0) / k
    return experts * (fraction * torch.softmax(logits, dim=1).mean(dim=0)).sum()
