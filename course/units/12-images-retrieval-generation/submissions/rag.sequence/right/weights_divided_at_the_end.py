import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    picked = token_logits.take_along_dim(targets[:, None, :, None], dim=-1).squeeze(-1) - token_logits.logsumexp(-1)
    return (doc_scores + picked.sum(-1)).logsumexp(-1) - doc_scores.logsumexp(-1)
