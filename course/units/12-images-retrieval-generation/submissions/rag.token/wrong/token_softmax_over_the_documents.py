"""Your softmax over the logits runs along the documents, not along the vocabulary.

Each reader has to choose among words."""

import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    documents = doc_scores.log_softmax(-1)
    return torch.logsumexp(documents.unsqueeze(-1) + tokens, 1).sum(-1)
