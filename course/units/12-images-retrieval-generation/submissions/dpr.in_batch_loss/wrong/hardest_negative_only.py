"""You compare the right context with one wrong one, the hardest.

Every other context in the batch is a negative."""

import torch
import torch.nn.functional as F


def in_batch_loss(questions, contexts, positives):
    scores = questions @ contexts.T
    own = scores.gather(1, positives.unsqueeze(1))
    worst = scores.scatter(1, positives.unsqueeze(1), -torch.inf).max(1, keepdim=True).values
    return (torch.cat([own, worst], 1).logsumexp(1) - own.squeeze(1)).mean()
