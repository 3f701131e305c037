# the formula of RAG-sequence: sums over the tokens first, then over the documents
def rag_token_log_probs(token_logits, doc_scores, targets):
    B, D, T, V = token_logits.shape
    logp = F.log_softmax(token_logits, dim=-1)
    index = targets[:, None, :, None].expand(B, D, T, 1)
    picked = logp.gather(-1, index).squeeze(-1)
    return torch.logsumexp(F.log_softmax(doc_scores, dim=-1) + picked.sum(dim=2), dim=1)
