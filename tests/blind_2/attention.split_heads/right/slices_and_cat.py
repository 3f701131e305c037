# style: slices stacked by list comprehension, no reshape anywhere
def split_heads(x, heads):
    width = x.shape[-1] // heads
    pieces = [x[..., n * width : (n + 1) * width] for n in range(heads)]
    return torch.stack(pieces, dim=1)


def merge_heads(x):
    return torch.cat([one_head for one_head in x.unbind(1)], dim=-1)
