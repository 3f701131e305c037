# counts how many words stay and compares each word's rank with that number, no scatter
def top_p_filter(logits, p):
    wide = torch.promote_types(logits.dtype, torch.float32)
    probs = torch.softmax(logits, dim=-1, dtype=wide)
    ordered, order = torch.sort(probs, dim=-1, descending=True, stable=True)
    too_little = ordered.cumsum(-1) < p               # p not reached yet
    n_keep = too_little.sum(dim=-1, keepdim=True) + 1
    rank = order.argsort(dim=-1)                      # the inverse permutation
    return torch.where(rank < n_keep, logits, torch.full_like(logits, -math.inf))
