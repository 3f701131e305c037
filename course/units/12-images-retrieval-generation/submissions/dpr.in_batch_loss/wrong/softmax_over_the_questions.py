"""Your softmax runs over the questions: each context seeks its question.

At test time one question stands before all contexts."""

import torch
import torch.nn.functional as F


def in_batch_loss(questions, contexts, positives):
    log_probs = (questions @ contexts.T).log_softmax(0)
    return -log_probs.gather(1, positives.unsqueeze(1)).mean()
