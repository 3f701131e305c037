# log-likelihoods of each document by F.cross_entropy(reduction="none"), documents folded into the batch
def rag_sequence_log_probs(token_logits, doc_scores, targets):
    B, D, T, V = token_logits.shape
    y = targets[:, None].expand(B, D, T)
    nll = F.cross_entropy(token_logits.reshape(-1, V), y.reshape(-1), reduction="none").view(B, D, T)
    joint = doc_scores - doc_scores.logsumexp(1, keepdim=True) - nll.sum(2)
    m = joint.max(1, keepdim=True).values
    return (m + (joint - m).exp().sum(1, keepdim=True).log()).squeeze(1)
