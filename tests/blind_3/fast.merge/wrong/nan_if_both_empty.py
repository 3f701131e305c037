# NaN where neither half has a key: exp(-inf - -inf)
def merge_attention(o1, lse1, o2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    o = torch.exp(lse1 - lse).unsqueeze(-1) * o1 + torch.exp(lse2 - lse).unsqueeze(-1) * o2
    return o, lse
