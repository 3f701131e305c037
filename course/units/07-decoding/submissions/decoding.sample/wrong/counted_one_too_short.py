"""You return the word before the one on which the draw falls.

The first sum that exceeds the draw belongs to the word itself."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = torch.softmax(logits.double() / temperature, dim=-1)
    return ((probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1) - 1).clamp(min=0)
