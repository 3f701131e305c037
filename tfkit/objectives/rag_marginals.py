"""RAG's marginals (Lewis et al. 2020, arXiv:2005.11401, 2.1): which document helped is not known, so sum over all."""

import torch


def rag_token_log_probs(token_logits, doc_scores, targets):
    """RAG-token: every token may come from another document, so documents are summed over at each token.

    token_logits [B,D,T,V], one row per document; doc_scores [B,D], p(d) = softmax; targets int64 [B,T] -> [B]
    """
    tokens = target_log_probs(token_logits, targets)  # [B,D,T]
    documents = doc_scores.log_softmax(-1).unsqueeze(-1)  # [B,D,1]
    return torch.logsumexp(documents + tokens, 1).sum(-1)


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    """RAG-sequence: one document for the whole sequence, so documents are summed over once, at the end.

    token_logits [B,D,T,V], doc_scores [B,D], targets int64 [B,T] -> [B]
    """
    sequences = target_log_probs(token_logits, targets).sum(-1)  # [B,D]
    return torch.logsumexp(doc_scores.log_softmax(-1) + sequences, -1)


def target_log_probs(token_logits, targets):
    """token_logits [B,D,T,V], targets int64 [B,T] -> [B,D,T]: what each document's reader gives each target."""
    log_probs = token_logits.log_softmax(-1)
    index = targets[:, None, :, None].expand(-1, log_probs.size(1), -1, -1)  # [B,D,T,1]
    return log_probs.gather(-1, index).squeeze(-1)
