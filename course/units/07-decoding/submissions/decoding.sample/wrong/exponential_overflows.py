"""You take the exponential of large logits, which is infinite; divided by itself it is NaN.

A softmax does not change when the same number is taken from all logits."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    weights = (logits.float() / temperature).exp()
    probs = weights / weights.sum(-1, keepdim=True)
    return (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1)
