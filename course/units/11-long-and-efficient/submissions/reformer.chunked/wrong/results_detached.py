"""Your result carries no gradient: saving memory must not mean that nothing is learned."""

import torch


def chunked_feed_forward(f, x, chunk):
    with torch.no_grad():
        return torch.cat([f(piece) for piece in x.split(chunk, dim=1)], dim=1)
