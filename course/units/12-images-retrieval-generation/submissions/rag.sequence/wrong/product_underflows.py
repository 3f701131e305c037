"""You multiply probabilities: those of a long sequence together are zero in floating point, and its logarithm is -inf.

That is what logarithms are for."""

import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    weighted = doc_scores.softmax(-1) * token_logits.softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(
        -1
    ).prod(-1)
    return weighted.sum(-1).log()
