"""You sum over the documents at every token: that is RAG-token.

Here one document is behind the whole sequence, so what is known of it at the first word still holds at the last."""

import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    documents = doc_scores.log_softmax(-1)
    return torch.logsumexp(documents.unsqueeze(-1) + tokens, 1).sum(-1)
