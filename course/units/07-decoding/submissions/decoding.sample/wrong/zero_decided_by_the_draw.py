"""At temperature 0 you draw evenly among all words; there nothing is left to chance."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return (u * logits.size(-1)).long()
    probs = torch.softmax(logits.double() / temperature, dim=-1)
    return (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1)
