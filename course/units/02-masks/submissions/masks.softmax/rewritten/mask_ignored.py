import torch


def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    top = scores.amax(-1, keepdim=True)
    raised = torch.exp(scores - top)
    return raised / raised.sum(-1, keepdim=True)
