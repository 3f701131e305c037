# multiplies weights [...] with outputs [...,D] without an axis for D
def merge_attention(o1, lse1, o2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    safe = lse.masked_fill(lse == float("-inf"), 0.0)
    a = torch.exp(lse1 - safe)
    b = torch.exp(lse2 - safe)
    return a * o1 + b * o2, lse
