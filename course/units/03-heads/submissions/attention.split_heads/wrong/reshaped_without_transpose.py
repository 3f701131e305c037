"""The shape is right and the content is scrambled: your heads hold pieces of different positions instead of columns of each.

Reshaping reads the numbers in order and does not know what an axis means.
"""

import torch


def split_heads(x, heads):
    batch, length, width = x.shape
    return x.reshape(batch, heads, length, width // heads)


def merge_heads(x):
    batch, heads, length, width = x.shape
    return x.reshape(batch, length, heads * width)
