# adds the retrieval scores without normalising them to log-probabilities
def rag_sequence_log_probs(token_logits, doc_scores, targets):
    logp = F.log_softmax(token_logits, dim=-1)
    idx = targets[:, None, :, None].expand(-1, logp.shape[1], -1, 1)
    seq = logp.gather(3, idx).squeeze(3).sum(2)
    return torch.logsumexp(seq + doc_scores, dim=1)
