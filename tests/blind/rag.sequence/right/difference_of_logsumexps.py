# cross_entropy for the tokens; p(d) comes in as a difference of two logsumexps
def rag_sequence_log_probs(token_logits, doc_scores, targets):
    B, D, T, V = token_logits.shape
    wanted = targets[:, None, :].repeat(1, D, 1)
    nll = F.cross_entropy(token_logits.reshape(-1, V), wanted.reshape(-1), reduction="none")
    answer = -nll.reshape(B, D, T).sum(dim=-1)
    return torch.logsumexp(doc_scores + answer, dim=1) - torch.logsumexp(doc_scores, dim=1)
