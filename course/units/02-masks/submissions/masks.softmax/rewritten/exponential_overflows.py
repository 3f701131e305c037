import torch


def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    raised = torch.where(mask, torch.exp(scores), torch.zeros_like(scores))
    total = raised.sum(-1, keepdim=True)
    return raised / torch.where(total == 0, torch.ones_like(total), total)
