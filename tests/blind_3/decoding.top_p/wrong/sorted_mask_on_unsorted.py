# the mask of the sorted words is applied to the unsorted logits, it is never brought back into the order of the ids
def top_p_filter(logits, p):
    probs = torch.softmax(logits, dim=-1)
    ordered = probs.sort(dim=-1, descending=True).values
    before = ordered.cumsum(-1) - ordered
    keep = before < p
    return torch.where(keep, logits, torch.tensor(-math.inf, dtype=logits.dtype))
