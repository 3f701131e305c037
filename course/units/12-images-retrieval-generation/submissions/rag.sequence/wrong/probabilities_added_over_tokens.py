"""You add a document's token probabilities up; a sequence's probability is their product.

A sum of probabilities over steps may exceed one."""

import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    documents = doc_scores.log_softmax(-1)
    return torch.logsumexp(documents + tokens.logsumexp(-1), -1)
