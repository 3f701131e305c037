# searchsorted on the cumulative sums, and never beyond the last word that has any probability
def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return torch.argmax(logits, dim=-1)
    p = torch.softmax(logits / temperature, dim=-1)
    edges = torch.cumsum(p, dim=-1)
    drawn = torch.searchsorted(edges, u.to(edges.dtype)[:, None], right=True)[:, 0]
    ids = torch.arange(p.shape[1], device=p.device)
    last = torch.where(p > 0, ids, torch.zeros_like(ids)).amax(dim=1)
    return torch.minimum(drawn, last)
