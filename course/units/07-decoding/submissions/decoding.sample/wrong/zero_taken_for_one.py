"""At temperature 0 you draw as at 1; there the largest logit wins, always."""

import torch


def sample_token(logits, u, temperature=1.0):
    temperature = temperature or 1.0
    probs = torch.softmax(logits.double() / temperature, dim=-1)
    return (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1)
