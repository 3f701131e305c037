"""You weight the documents at the first token and not at the others.

A document is chosen anew at each token, so its probability counts at each."""

import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    documents = doc_scores.log_softmax(-1)
    weights = torch.cat([documents.unsqueeze(-1), torch.zeros_like(tokens[..., 1:])], -1)
    return torch.logsumexp(weights + tokens, 1).sum(-1)
