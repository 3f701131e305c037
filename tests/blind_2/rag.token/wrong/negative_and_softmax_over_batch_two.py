# returns a loss, with the sign changed + the softmax of the scores runs over the batch
def rag_token_log_probs(token_logits, doc_scores, targets):
    prior = torch.softmax(doc_scores, dim=0).log()
    lp = token_logits - token_logits.logsumexp(-1, keepdim=True)
    y = targets[:, None, :, None].repeat(1, doc_scores.shape[1], 1, 1)
    tok = lp.gather(3, y).squeeze(3)
    mixed = torch.logsumexp(prior[:, :, None] + tok, dim=1)
    return -mixed.sum(1)
