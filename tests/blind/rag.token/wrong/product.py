# multiplies the probabilities of the tokens and takes the logarithm at the end, which underflows
def rag_token_log_probs(token_logits, doc_scores, targets):
    p = torch.softmax(token_logits, dim=-1)
    p_doc = torch.softmax(doc_scores, dim=-1)
    B, D, T, V = p.shape
    b = torch.arange(B)[:, None, None]
    d = torch.arange(D)[None, :, None]
    t = torch.arange(T)[None, None, :]
    chosen = p[b, d, t, targets[:, None, :]]
    per_token = torch.einsum("bd,bdt->bt", p_doc, chosen)
    return per_token.prod(dim=1).log()
