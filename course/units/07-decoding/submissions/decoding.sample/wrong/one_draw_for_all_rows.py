"""You use the first draw for every row; each row has its own."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = torch.softmax(logits.double() / temperature, dim=-1)
    return (probs.cumsum(-1) <= u[0]).sum(-1)
