import torch


def merge_attention(o1, lse1, o2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    known = lse.masked_fill(lse == float("-inf"), 0.0)  # where there are no keys at all
    first = (lse1 - known).exp().unsqueeze(-1)
    second = (lse2 - known).exp().unsqueeze(-1)
    return first * o1 + second * o2, lse
