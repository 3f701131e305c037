# the weights are exchanged, o1 gets the weight of the second half + the lse keeps a last dimension of one
def merge_attention(o1, lse1, o2, lse2):
    a = lse1.unsqueeze(-1)
    b = lse2.unsqueeze(-1)
    lse = torch.logaddexp(a, b)
    safe = torch.where(torch.isinf(lse), torch.zeros_like(lse), lse)
    out = o1 * torch.exp(b - safe) + o2 * torch.exp(a - safe)
    return out, lse
