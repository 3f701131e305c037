import math

import torch


def chunked_feed_forward(f, x, chunk):
    count = math.ceil(x.shape[1] / chunk)
    bounds = [min(n * chunk, x.shape[1]) for n in range(count + 1)]
    pieces = [x.narrow(1, a, b - a) for a, b in zip(bounds, bounds[1:])]
    return torch.concat(list(map(f, pieces)), 1)
