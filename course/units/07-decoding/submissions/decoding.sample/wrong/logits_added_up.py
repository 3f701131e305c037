"""You add up logits; only probabilities can lie side by side and fill the line from 0 to 1."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = logits.double() / temperature
    return (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1).clamp(max=logits.size(-1) - 1)
