# the sum over the documents is taken after the product over tokens: this is RAG-sequence
def rag_token_log_probs(token_logits, doc_scores, targets):
    B, D, T, V = token_logits.shape
    logp = torch.log_softmax(token_logits, -1)
    idx = targets.unsqueeze(1).unsqueeze(-1).expand(B, D, T, 1)
    seq = logp.gather(-1, idx).squeeze(-1).sum(-1)
    return torch.logsumexp(seq + torch.log_softmax(doc_scores, -1), dim=-1)
