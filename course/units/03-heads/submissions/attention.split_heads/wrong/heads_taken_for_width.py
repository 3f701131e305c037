"""You take the number of heads for the width of a head, so you get as many heads as a head should have columns."""

import torch


def split_heads(x, heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, width // heads, heads).transpose(1, 2)


def merge_heads(x):
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * width)
