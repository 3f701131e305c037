# style: the two weights as sigmoids of the difference of the two log-sum-exps
def merge_attention(o1, lse1, o2, lse2):
    nothing = torch.isneginf(lse1) & torch.isneginf(lse2)
    diff = torch.where(nothing, torch.zeros_like(lse1), lse1 - lse2)
    share1 = torch.sigmoid(diff)[..., None]
    share2 = torch.sigmoid(-diff)[..., None]
    lse = torch.maximum(lse1, lse2) + torch.log1p(torch.exp(-diff.abs()))
    return share1 * o1 + share2 * o2, lse
