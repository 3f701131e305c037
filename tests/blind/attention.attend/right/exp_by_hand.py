# exp of the shifted scores by hand; the sum is at least 1 except in an empty row
def attend(query, keys, mask):
    scores = torch.matmul(keys, query.unsqueeze(-1)).squeeze(-1)
    scores = torch.where(mask, scores, torch.full_like(scores, float("-inf")))
    top = scores.amax(dim=1, keepdim=True).detach()
    top = torch.where(top == float("-inf"), torch.zeros_like(top), top)
    e = torch.exp(scores - top)
    weights = e / e.sum(dim=1, keepdim=True).clamp(min=1.0)
    return torch.einsum("bs,bsh->bh", weights, keys), weights
