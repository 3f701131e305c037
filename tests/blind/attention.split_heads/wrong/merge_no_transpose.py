# splits correctly, but merges without moving the head axis back
def split_heads(x, heads):
    batch, length, emb = x.size()
    return x.view(batch, length, heads, emb // heads).transpose(1, 2)


def merge_heads(x):
    batch, heads, length, dim = x.size()
    x = x.contiguous()
    return x.view(batch, length, heads * dim)
