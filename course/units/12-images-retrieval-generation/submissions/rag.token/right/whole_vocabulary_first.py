import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    mixed = token_logits.log_softmax(-1) + doc_scores.log_softmax(-1)[..., None, None]
    mixed = mixed.logsumexp(1)  # [B,T,V]
    return mixed.gather(-1, targets.unsqueeze(-1)).squeeze(-1).sum(-1)
