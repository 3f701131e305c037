import torch


def merge_attention(o1, lse1, o2, lse2):
    top = torch.maximum(lse1, lse2)
    top = torch.where(top == float("-inf"), torch.zeros_like(top), top)
    sum1, sum2 = torch.exp(lse1 - top), torch.exp(lse2 - top)
    total = sum1 + sum2
    lse = top + total.log()
    total = torch.where(total == 0, torch.ones_like(total), total)
    return (o1 * sum1[..., None] + o2 * sum2[..., None]) / total[..., None], lse
