# the weights are lse1/(lse1+lse2) and lse2/(lse1+lse2), not the exponentials
def merge_attention(o1, lse1, o2, lse2):
    total = lse1 + lse2
    w1 = (lse1 / total).unsqueeze(-1)
    w2 = (lse2 / total).unsqueeze(-1)
    return w1 * o1 + w2 * o2, torch.logaddexp(lse1, lse2)
