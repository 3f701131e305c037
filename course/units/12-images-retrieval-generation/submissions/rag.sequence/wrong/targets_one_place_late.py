"""You read the logits of one step earlier for each target.

The logits at t are already those that predict target t: who made them has done the shifting."""

import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(-1).roll(1, 2).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    documents = doc_scores.log_softmax(-1)
    return torch.logsumexp(documents + tokens.sum(-1), -1)
