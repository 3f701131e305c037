"""You call f once more just to learn the shape of its result. f is expensive, so it should be called only ceil(L / chunk) times."""

import torch


def chunked_feed_forward(f, x, chunk):
    out = torch.empty_like(f(x[:, :chunk])[:, :1].expand(x.shape))
    pieces = []
    for start in range(0, x.size(1), chunk):
        pieces.append(f(x[:, start : start + chunk]))
    return torch.cat(pieces, dim=1).type_as(out)
