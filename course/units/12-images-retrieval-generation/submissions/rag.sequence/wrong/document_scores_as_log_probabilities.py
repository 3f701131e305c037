"""You use the documents' scores as if they were log-probabilities already.

What do the documents' probabilities have to add up to?"""

import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    return torch.logsumexp(doc_scores + tokens.sum(-1), -1)
