"""You keep the most probable explanation where all are to be summed over.

With a maximum, only one document would get a gradient."""

import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    documents = doc_scores.log_softmax(-1)
    return (documents.unsqueeze(-1) + tokens).max(1).values.sum(-1)
