# mean over the answer's tokens instead of the sum + softmax of the document scores over the batch
def rag_sequence_log_probs(token_logits, doc_scores, targets):
    log_pd = F.log_softmax(doc_scores, dim=0)
    B, D, T, V = token_logits.shape
    one_hot = F.one_hot(targets, V).float()
    log_py = torch.einsum("bdtv,btv->bdt", token_logits.log_softmax(-1), one_hot)
    return torch.logsumexp(log_pd + log_py.mean(-1), dim=-1)
