import torch


def top_p_filter(logits, p):
    sorted_logits, sorted_indices = torch.sort(logits, descending=True, dim=-1)
    reached = sorted_logits.double().softmax(dim=-1).cumsum(dim=-1) >= p
    remove = torch.zeros_like(reached)
    remove[..., 1:] = reached[..., :-1]
    kept = sorted_logits.masked_fill(remove, float("-inf"))
    return torch.empty_like(logits).scatter(-1, sorted_indices, kept)
