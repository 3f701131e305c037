import torch


def chunked_feed_forward(f, x, chunk):
    first = f(x[:, :chunk])
    if x.size(1) <= chunk:
        return first
    return torch.cat((first, chunked_feed_forward(f, x[:, chunk:], chunk)), dim=-2)
