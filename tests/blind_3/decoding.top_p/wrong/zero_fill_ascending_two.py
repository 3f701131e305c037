# removed words get the logit 0 instead of -inf + sorted from unlikely to likely, so the nucleus is made of the least likely words
def top_p_filter(logits, p):
    probs = F.softmax(logits, dim=-1)
    order = probs.argsort(dim=-1)
    ranked = probs.gather(-1, order)
    cum_before = ranked.cumsum(-1) - ranked
    keep_sorted = cum_before < p
    keep = torch.empty_like(keep_sorted)
    keep.scatter_(-1, order, keep_sorted)
    return logits * keep
