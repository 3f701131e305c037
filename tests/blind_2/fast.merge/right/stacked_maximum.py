# style: both parts stacked and treated as one small softmax by hand, with a safe maximum for empty parts
def merge_attention(o1, lse1, o2, lse2):
    lses = torch.stack([lse1, lse2])  # [2,...]
    outs = torch.stack([o1, o2])  # [2,...,D]
    top = lses.max(dim=0).values
    nothing = torch.isneginf(top)  # neither part has keys
    top = torch.where(nothing, torch.zeros_like(top), top)
    e = torch.exp(lses - top)
    z = e.sum(0)
    z = torch.where(nothing, torch.ones_like(z), z)
    o = torch.einsum("p...,p...d->...d", (e / z).to(outs.dtype), outs)
    lse = torch.where(nothing, torch.full_like(z, float("-inf")), top + torch.log(z))
    return o, lse
