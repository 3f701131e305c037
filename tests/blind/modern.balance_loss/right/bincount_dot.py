# counts the choices with bincount, one dot product
def balance_loss(logits, k):
    n_tokens, n_experts = logits.shape
    order = torch.argsort(logits.detach(), dim=1, descending=True)
    counts = torch.bincount(order[:, :k].reshape(-1), minlength=n_experts)
    share = counts.to(logits.dtype) / (n_tokens * k)
    probability = torch.exp(logits - logits.logsumexp(dim=1, keepdim=True)).mean(dim=0)
    return n_experts * torch.dot(share, probability)
