"""You take `chunk` for the number of pieces. It is how many positions f gets at a time."""

import torch


def chunked_feed_forward(f, x, chunk):
    return torch.cat([f(piece) for piece in x.chunk(chunk, dim=1)], dim=1)
