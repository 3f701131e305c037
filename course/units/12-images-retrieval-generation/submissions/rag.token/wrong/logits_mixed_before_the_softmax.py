"""You mix the documents' logits and take one softmax; it is probabilities that are mixed.

A weighted mean of logits is a product of experts, not a choice among them."""

import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    mixed = (token_logits * doc_scores.softmax(-1)[..., None, None]).sum(1).log_softmax(-1)
    return mixed.gather(-1, targets.unsqueeze(-1)).squeeze(-1).sum(-1)
