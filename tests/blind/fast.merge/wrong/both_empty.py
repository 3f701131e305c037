# gives NaN where neither half has a key (-inf minus -inf)
def merge_attention(o1, lse1, o2, lse2):
    lses = torch.stack([lse1, lse2])
    lse = torch.logsumexp(lses, dim=0)
    w = torch.exp(lses - lse)
    o = torch.einsum("n...,n...d->...d", w, torch.stack([o1, o2]))
    return o, lse
