"""You use the token logits as they are; over the vocabulary they do not add up to anything.

A reader's logits become probabilities first, for each document on its own."""

import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    documents = doc_scores.log_softmax(-1)
    return torch.logsumexp(documents.unsqueeze(-1) + tokens, 1).sum(-1)
