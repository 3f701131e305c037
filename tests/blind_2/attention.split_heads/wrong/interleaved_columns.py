# head h gets the columns h, h+H, h+2H, ... instead of a block of D neighbours
def split_heads(x, heads):
    b, l, e = x.size()
    x = x.view(b, l, e // heads, heads)
    return x.permute(0, 3, 1, 2).contiguous()


def merge_heads(x):
    b, h, l, d = x.size()
    return x.permute(0, 2, 3, 1).reshape(b, l, d * h)
