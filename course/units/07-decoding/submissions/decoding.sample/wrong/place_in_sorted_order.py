"""You sort the words by probability and return the place in that order; it is no id."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = torch.softmax(logits.double() / temperature, dim=-1).sort(-1, descending=True).values
    return (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1)
