import torch
import torch.nn.functional as F


def reward_loss(chosen, rejected):
    scores = torch.stack([chosen, rejected], -1)
    return F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long, device=scores.device))
