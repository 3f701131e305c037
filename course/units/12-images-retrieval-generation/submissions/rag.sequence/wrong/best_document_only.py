"""You read the best-scored document only.

Which one helped is not known, so none is thrown away."""

import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)
    best = doc_scores.argmax(-1)
    rows = torch.arange(len(best), device=best.device)
    return tokens[rows, best].sum(-1)
