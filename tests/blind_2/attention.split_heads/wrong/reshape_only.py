# reshape straight to [B,H,L,D], the head axis is never moved
def split_heads(x, heads):
    B, L, E = x.shape
    return x.reshape(B, heads, L, E // heads)


def merge_heads(x):
    B, H, L, D = x.shape
    return x.reshape(B, L, H * D)
