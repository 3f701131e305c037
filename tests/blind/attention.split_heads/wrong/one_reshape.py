# one reshape each way, without moving the head axis
def split_heads(x, heads):
    B, L, E = x.shape
    D = E // heads
    return x.reshape(B, heads, L, D)


def merge_heads(x):
    B, H, L, D = x.shape
    return x.reshape(B, L, H * D)
