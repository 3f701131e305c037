# mixes the documents at each token: this is RAG-token
def rag_sequence_log_probs(token_logits, doc_scores, targets):
    lp = token_logits.log_softmax(-1)
    B, D, T, V = lp.shape
    tok = lp.gather(-1, targets.view(B, 1, T, 1).expand(B, D, T, 1)).squeeze(-1)
    pd = doc_scores.log_softmax(-1).unsqueeze(-1)
    return torch.logsumexp(tok + pd, dim=1).sum(dim=-1)
