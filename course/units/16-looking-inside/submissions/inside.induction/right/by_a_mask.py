import torch


def induction_scores(weights, period):
    place = torch.arange(weights.size(-1), device=weights.device)
    wanted = (place[:, None] - place == period - 1) & (place[:, None] >= period)
    picked = weights.masked_fill(~wanted, 0.0).sum((0, 2, 3))
    return picked / max(1, weights.size(0) * int(wanted.sum()))
