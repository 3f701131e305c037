import torch


def relative_shift(scores):
    q, r = scores.shape[-2:]
    query, key = torch.arange(q, device=scores.device)[:, None], torch.arange(r, device=scores.device)
    source = (key + q - 1 - query).clamp(max=r - 1)
    return scores.gather(-1, source.expand_as(scores))
