# style: bmm and column vectors, weights as exp(score - logsumexp), empty rows patched before
def attend(query, keys, mask):
    e = torch.bmm(keys, query[:, :, None])[:, :, 0]            # [B,S]
    empty = ~mask.any(dim=1)
    hidden = ~mask & ~empty[:, None]
    e = e.masked_fill(hidden, -math.inf)
    a = torch.exp(e - torch.logsumexp(e, dim=1, keepdim=True))
    a = a.masked_fill(empty[:, None], 0.0)
    c = torch.bmm(a[:, None, :], keys)[:, 0, :]
    return c, a
