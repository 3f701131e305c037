# the decision for the sorted words is applied to the unsorted logits
def top_p_filter(logits, p):
    probs = logits.softmax(-1)
    top, _ = probs.sort(-1, descending=True)
    before = top.cumsum(-1) - top
    keep = before < p
    return logits.masked_fill(~keep, -float("inf"))
