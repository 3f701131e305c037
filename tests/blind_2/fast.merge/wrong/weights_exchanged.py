# the two weights are exchanged: o1 is weighted with the share of the second part
def merge_attention(o1, lse1, o2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    share = torch.sigmoid(lse2 - lse1)  # share of the first part
    share = torch.nan_to_num(share)[..., None]
    o = share * o1 + (1 - share) * o2
    return o, lse
