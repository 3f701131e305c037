# the tokens' log probabilities are averaged, not summed + the documents' logs are averaged by weight instead of log-sum-exp
def rag_sequence_log_probs(token_logits, doc_scores, targets):
    logp = torch.log_softmax(token_logits, dim=3)
    B, D, T, _ = logp.shape
    b = torch.arange(B)[:, None, None]
    d = torch.arange(D)[None, :, None]
    t = torch.arange(T)[None, None, :]
    chosen = logp[b, d, t, targets[:, None, :]]
    return (chosen.mean(-1) * torch.softmax(doc_scores, dim=1)).sum(1)
