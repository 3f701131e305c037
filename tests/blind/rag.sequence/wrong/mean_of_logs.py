# averages the documents' log-probabilities with the weights p(d), instead of their probabilities
def rag_sequence_log_probs(token_logits, doc_scores, targets):
    weights = torch.softmax(doc_scores, dim=-1)
    lp = torch.log_softmax(token_logits, dim=-1)
    lp = torch.take_along_dim(lp, targets[:, None, :, None], dim=-1)[..., 0]
    per_document = lp.sum(dim=-1)
    return torch.einsum("bd,bd->b", weights, per_document)
