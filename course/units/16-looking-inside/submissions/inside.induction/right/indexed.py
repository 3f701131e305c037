import torch


def induction_scores(weights, period):
    length = weights.size(-1)
    queries = torch.arange(length, device=weights.device)[period:]
    if len(queries) == 0:
        return weights.new_zeros(weights.size(1))
    return weights[:, :, queries, queries - period + 1].mean((0, 2))
