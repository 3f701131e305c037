"""You average log-probabilities over the documents; it is the probabilities that are averaged.

The mean of logarithms is not the logarithm of the mean: one document that knows nothing would ruin the whole."""

import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    weights = doc_scores.softmax(-1).unsqueeze(-1)
    return (weights * tokens).sum((1, 2))
