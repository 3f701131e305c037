# softmax over the batch axis (dim 0) instead of over the states
def attend(query, keys, mask):
    scores = torch.matmul(keys, query.unsqueeze(-1)).squeeze(-1)
    minus_inf = torch.full_like(scores, -math.inf)
    scores = torch.where(mask, scores, minus_inf)
    weights = scores.softmax(0)
    weights = torch.where(mask, weights, torch.zeros_like(weights))
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
