import torch


def merge_attention(o1, lse1, o2, lse2):
    share = torch.sigmoid(lse1 - lse2).nan_to_num(0.0)[..., None]
    return share * o1 + (1 - share) * o2, torch.logaddexp(lse1, lse2)
