import torch


def split_heads(x, heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(1, 2)


def merge_heads(x):
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * width)
