"""You compare p with each word's own probability, not with their sum.

p is how much of the whole the kept words have together."""


def top_p_filter(logits, p):
    ordered, order = logits.sort(dim=-1, descending=True)
    probs = ordered.float().softmax(-1)
    small = probs < p
    small[..., 0] = False
    removed = small.scatter(-1, order, small)
    return logits.masked_fill(removed, float("-inf"))
