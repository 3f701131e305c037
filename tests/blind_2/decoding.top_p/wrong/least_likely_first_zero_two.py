# sorted from the least likely word on (the tail is kept) + removed logits set to 0 instead of -inf
def top_p_filter(logits, p):
    probs = torch.softmax(logits, dim=-1)
    vals, ids = torch.sort(probs, dim=-1)
    c = vals.cumsum(dim=-1)
    keep_sorted = torch.cat([torch.ones_like(c[..., :1]), c[..., :-1]], dim=-1) < p
    keep_sorted[..., 0] = True
    keep = torch.empty_like(keep_sorted)
    keep.scatter_(-1, ids, keep_sorted)
    return torch.where(keep, logits, torch.tensor(0.0))
