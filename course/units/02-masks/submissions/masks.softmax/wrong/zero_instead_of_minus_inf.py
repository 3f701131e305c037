"""You give hidden positions the score zero; zero is an ordinary score, and exp(0) = 1 is an ordinary share.

Which score does the softmax turn into exactly nothing?
"""

import torch


def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, 0.0), dim=-1)
    return weights
