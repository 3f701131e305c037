"""You join the pieces along the batch; they belong behind one another."""

import torch


def chunked_feed_forward(f, x, chunk):
    return torch.cat([f(piece) for piece in x.split(chunk, dim=1)], dim=0)
