# a loop over documents that keeps the running logarithm of the sum with logaddexp
def rag_token_log_probs(token_logits, doc_scores, targets):
    log_p_doc = doc_scores - doc_scores.logsumexp(dim=1, keepdim=True)
    total = None
    for d in range(token_logits.shape[1]):
        logits = token_logits[:, d]                                            # [B,T,V]
        log_p = torch.take_along_dim(logits, targets.unsqueeze(-1), dim=-1).squeeze(-1) - logits.logsumexp(dim=-1)
        joint = log_p + log_p_doc[:, d].unsqueeze(-1)                          # [B,T]
        total = joint if total is None else torch.logaddexp(total, joint)
    return total.sum(dim=-1)
