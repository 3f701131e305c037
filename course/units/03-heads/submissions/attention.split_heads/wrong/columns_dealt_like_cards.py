"""You deal the columns out in turn, so a head gets every h-th column; a head is a run of neighbouring columns."""

import torch


def split_heads(x, heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, width // heads, heads).permute(0, 3, 1, 2)


def merge_heads(x):
    batch, heads, length, width = x.shape
    return x.permute(0, 2, 3, 1).reshape(batch, length, heads * width)
