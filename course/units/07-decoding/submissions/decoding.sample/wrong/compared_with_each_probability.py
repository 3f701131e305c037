"""You compare the draw with each word's own probability, not with their running sum.

The words lie side by side; where does each of them end?"""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = torch.softmax(logits.double() / temperature, dim=-1)
    return (probs > u.unsqueeze(-1)).int().argmax(-1)
