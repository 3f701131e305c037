# split is right, merge forgets to move the head axis back before flattening
def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge_heads(x):
    batch, n_heads, length, width = x.shape
    return x.contiguous().view(batch, length, n_heads * width)
