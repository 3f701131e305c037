# style: argsort and bincount instead of topk and one-hot; probabilities by hand from logsumexp
def balance_loss(logits, k):
    n_tok, X = logits.shape
    # which experts were picked (counts carry no gradient anyway)
    picked = torch.argsort(logits.detach(), dim=-1, descending=True)[:, :k]
    counts = torch.bincount(picked.flatten(), minlength=X)
    share = counts.to(logits.dtype) / (n_tok * k)

    prob = torch.exp(logits - torch.logsumexp(logits, dim=-1, keepdim=True))
    mean_prob = prob.sum(0) / n_tok
    return X * torch.dot(share, mean_prob)
