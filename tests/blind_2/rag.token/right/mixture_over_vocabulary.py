# mixes the whole distributions first (logaddexp over the documents), picks the targets last
def rag_token_log_probs(token_logits, doc_scores, targets):
    B, D, T, V = token_logits.shape
    log_pd = F.log_softmax(doc_scores, dim=1)
    mix = None
    for d in range(D):
        term = F.log_softmax(token_logits[:, d], dim=-1) + log_pd[:, d, None, None]
        mix = term if mix is None else torch.logaddexp(mix, term)
    picked = torch.take_along_dim(mix, targets.unsqueeze(2), dim=2)
    return picked.sum(dim=(1, 2))
