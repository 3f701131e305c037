# averages the readers' logits by the documents' weights and takes one softmax, instead of mixing probabilities
def rag_token_log_probs(token_logits, doc_scores, targets):
    w = torch.softmax(doc_scores, dim=-1)
    mixed = torch.einsum("bd,bdtv->btv", w, token_logits)
    nll = F.cross_entropy(mixed.transpose(1, 2), targets, reduction="none")
    return -nll.sum(1)
