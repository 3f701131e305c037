# the weights are swapped, each half gets the other's + the new log-sum-exp is only the maximum
def merge_attention(o1, lse1, o2, lse2):
    d = torch.nan_to_num(lse1 - lse2, nan=0.0)
    p = torch.sigmoid(d).unsqueeze(-1)
    out = torch.lerp(o1, o2, p)
    return out, torch.maximum(lse1, lse2)
