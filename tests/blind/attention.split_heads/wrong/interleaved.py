# head h gets every H-th column, not a block of columns (head axis innermost)
def split_heads(x, heads):
    x = x.unflatten(-1, (-1, heads))      # [B,L,D,H]
    return x.permute(0, 3, 1, 2)


def merge_heads(x):
    x = x.permute(0, 2, 3, 1)             # [B,L,D,H]
    return x.flatten(2)
