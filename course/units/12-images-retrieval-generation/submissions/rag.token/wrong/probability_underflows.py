"""You leave the logarithms too early: a small probability becomes zero in floating point, and its logarithm -inf.

A sum of probabilities can be taken without ever leaving logarithms."""

import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    mixed = (doc_scores.softmax(-1)[..., None, None] * token_logits.softmax(-1)).sum(1)
    return mixed.gather(-1, targets.unsqueeze(-1)).squeeze(-1).log().sum(-1)
