"""In-batch contrastive learning (Karpukhin et al. 2020, arXiv:2004.04906, 3.2): others' answers are the wrong ones."""

import torch.nn.functional as F


def in_batch_loss(questions, contexts, positives):
    """Each question must find its own context among all that are in the batch, by plain inner products.

    questions [B,E], contexts [C,E], positives int64 [B], a row of contexts for each question -> scalar: the mean
    """
    scores = questions @ contexts.T  # [B,C]
    return F.cross_entropy(scores, positives)
