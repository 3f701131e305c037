"""You draw a random number of your own and leave `u` unused.

The draw comes in as an argument, so that every run gives the same word."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = torch.softmax(logits.double() / temperature, dim=-1)
    return torch.multinomial(probs, 1).squeeze(-1)
