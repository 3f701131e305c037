# einsum and a softmax written by hand with exp, max and sum
def attend(query, keys, mask):
    e = torch.einsum("bh,bsh->bs", query, keys)
    # the biggest score among the real words, only for numerical stability
    big = torch.where(mask, e, torch.full_like(e, torch.finfo(e.dtype).min)).amax(dim=1, keepdim=True)
    shifted = torch.where(mask, e - big, torch.zeros_like(e))
    ex = shifted.exp() * mask.to(e.dtype)
    z = ex.sum(dim=1, keepdim=True)
    z = torch.where(z == 0, torch.ones_like(z), z)   # empty row: 0 / 1 = 0
    a = ex / z
    c = torch.einsum("bs,bsh->bh", a, keys)
    return c, a
