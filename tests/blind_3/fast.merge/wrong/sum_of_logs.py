# the log-sum-exps are added, as if the logarithm of a sum were the sum of the logarithms
def merge_attention(o1, lse1, o2, lse2):
    # softmax over the two parts
    both = torch.stack([lse1, lse2], dim=0)
    empty = torch.isinf(both).all(0)
    w = torch.softmax(both.masked_fill(empty, 0.0), dim=0)
    o = w[0][..., None] * o1 + w[1][..., None] * o2
    lse = both.sum(0)
    return o, lse
