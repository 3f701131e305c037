# computes the sums e^lse themselves, which overflow for large lse (inf/inf = NaN)
def merge_attention(o1, lse1, o2, lse2):
    s1 = torch.exp(lse1)
    s2 = torch.exp(lse2)
    s = s1 + s2
    o = (s1[..., None] * o1 + s2[..., None] * o2) / s[..., None].clamp(min=1e-30)
    return o, torch.log(s)
