"""If two documents have the same score, you count only one of them, but every document has its own share.

This happens when code tells documents apart by their scores, for example as keys of a dictionary or entries of a set.
"""

import torch


def rag_token_log_probs(token_logits, doc_scores, targets):
    words = token_logits.log_softmax(-1).gather(-1, targets[:, None, :, None].expand(-1, token_logits.size(1), -1, 1))
    first = torch.ones_like(doc_scores, dtype=torch.bool)
    for place in range(1, doc_scores.size(1)):
        first[:, place] = (doc_scores[:, :place] != doc_scores[:, place : place + 1]).all(1)
    documents = doc_scores.masked_fill(~first, float("-inf")).log_softmax(-1)
    return (documents[:, :, None] + words.squeeze(-1)).logsumexp(1).sum(-1)
