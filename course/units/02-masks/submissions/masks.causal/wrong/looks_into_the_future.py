"""Your triangle is the wrong one: every position sees itself and what comes after.

Rows are queries, columns are keys.
"""

import torch


def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).triu()
