# gives D heads of width H + merges with the axes flattened in the wrong order (D outside, H inside)
def split_heads(x, heads):
    b, l, e = x.shape
    d = e // heads
    parts = x.reshape(b, l, d, heads)
    return parts.swapaxes(1, 2)


def merge_heads(x):
    b, h, l, d = x.shape
    return x.permute(0, 2, 3, 1).reshape(b, l, h * d)
