# the outputs are averaged with equal weights, whatever the two sums are
def merge_attention(o1, lse1, o2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    has1 = torch.isfinite(lse1).to(o1.dtype).unsqueeze(-1)
    has2 = torch.isfinite(lse2).to(o2.dtype).unsqueeze(-1)
    n = (has1 + has2).clamp(min=1)
    out = (has1 * o1 + has2 * o2) / n
    return out, lse
