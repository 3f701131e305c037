"""You ask of every pair on its own whether it belongs together.

The contexts of a batch compete: one softmax over all of them."""

import torch
import torch.nn.functional as F


def in_batch_loss(questions, contexts, positives):
    scores = questions @ contexts.T
    target = F.one_hot(positives, len(contexts)).to(scores.dtype)
    return F.binary_cross_entropy_with_logits(scores, target)
