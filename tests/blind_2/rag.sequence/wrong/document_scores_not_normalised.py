# the raw scores of the documents are added without a softmax
def rag_sequence_log_probs(token_logits, doc_scores, targets):
    out = []
    for b in range(targets.shape[0]):
        per_doc = []
        for d in range(doc_scores.shape[1]):
            logp = F.log_softmax(token_logits[b, d], dim=-1)
            per_doc.append(doc_scores[b, d] + logp[torch.arange(targets.shape[1]), targets[b]].sum())
        out.append(torch.logsumexp(torch.stack(per_doc), 0))
    return torch.stack(out)
