"""Your pieces overlap: each begins with the last position of the one before, which is computed twice."""

import torch


def chunked_feed_forward(f, x, chunk):
    pieces = [f(x[:, :chunk])]
    for start in range(chunk, x.size(1), chunk):
        pieces.append(f(x[:, start - 1 : start + chunk])[:, 1:])
    return torch.cat(pieces, dim=1)
