# adds the retriever's scores without a softmax
def rag_token_log_probs(token_logits, doc_scores, targets):
    n_docs = token_logits.size(1)
    tgt = targets.unsqueeze(1).repeat(1, n_docs, 1)
    nll = F.cross_entropy(token_logits.permute(0, 3, 1, 2), tgt, reduction="none")
    joint = doc_scores.unsqueeze(-1) - nll
    return torch.logsumexp(joint, dim=1).sum(-1)
