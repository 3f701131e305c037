"""Your softmax runs over the rows of the batch; each row is a distribution over the words."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = torch.softmax(logits.double() / temperature, dim=0)
    return (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1).clamp(max=logits.size(-1) - 1)
