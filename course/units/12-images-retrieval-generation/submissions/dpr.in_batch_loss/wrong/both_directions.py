"""You average over both directions, contexts to questions as well.

That is CLIP's loss; here only a question seeks."""

import torch
import torch.nn.functional as F


def in_batch_loss(questions, contexts, positives):
    scores = questions @ contexts.T
    back = scores.log_softmax(0).gather(1, positives.unsqueeze(1)).mean()
    return (F.cross_entropy(scores, positives) - back) / 2
