import torch


def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    seen = mask.any(dim=-1)
    rows = scores[seen].masked_fill(~mask[seen], float("-inf"))
    weights = torch.zeros_like(scores).index_put((seen,), torch.softmax(rows, dim=-1))
    return weights
