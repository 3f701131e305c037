import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    weights = doc_scores - doc_scores.logsumexp(-1, keepdim=True)
    total = None
    for d in range(token_logits.size(1)):
        log_probs = token_logits[:, d] - token_logits[:, d].logsumexp(-1, keepdim=True)
        one = weights[:, d : d + 1] + log_probs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        total = one if total is None else torch.logaddexp(total, one)
    return total.sum(-1)
