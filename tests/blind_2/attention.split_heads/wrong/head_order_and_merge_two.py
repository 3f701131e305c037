# split numbers the heads from the right (head 0 gets the last columns) + merge puts D outside H, so the columns are interleaved
def split_heads(x, heads):
    parts = list(torch.chunk(x, heads, dim=2))
    parts.reverse()
    return torch.stack(parts, 1)


def merge_heads(x):
    x = torch.einsum("bhld->bldh", x)
    return x.flatten(2)
