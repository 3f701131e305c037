"""You sum over the documents once, at the end: that is RAG-sequence.

Here every token may come from another document."""

import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    documents = doc_scores.log_softmax(-1)
    return torch.logsumexp(documents + tokens.sum(-1), -1)
