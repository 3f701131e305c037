"""You divide the probabilities by the temperature; then they no longer sum to one.

The temperature belongs to the logits, before the softmax."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = torch.softmax(logits.double(), dim=-1) / temperature
    return (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1).clamp(max=logits.size(-1) - 1)
