import torch


def top_p_filter(logits, p):
    probs = torch.softmax(logits.double(), dim=-1)
    descending = probs.sort(dim=-1, descending=True).values
    needed = (descending.cumsum(dim=-1) < p).sum(dim=-1, keepdim=True).clamp(max=logits.size(-1) - 1)
    threshold = descending.gather(-1, needed)
    return torch.where(probs >= threshold, logits, torch.full_like(logits, float("-inf")))
