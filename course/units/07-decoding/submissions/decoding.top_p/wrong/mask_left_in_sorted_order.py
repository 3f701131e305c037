"""Your mask is in sorted order, but you apply it to logits in vocabulary order.

After sorting, column i is no longer word i. Something has to lead back."""


def top_p_filter(logits, p):
    ordered, order = logits.sort(dim=-1, descending=True)
    probs = ordered.float().softmax(-1)
    before = probs.cumsum(-1) - probs
    removed = before >= p
    return logits.masked_fill(removed, float("-inf"))
