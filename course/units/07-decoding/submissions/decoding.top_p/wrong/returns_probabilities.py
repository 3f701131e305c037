"""You return probabilities; a filter takes logits and returns logits.

Then filters can follow one another, and the softmax comes once, at the end."""


def top_p_filter(logits, p):
    ordered, order = logits.sort(dim=-1, descending=True)
    probs = ordered.float().softmax(-1)
    before = probs.cumsum(-1) - probs
    removed = (before >= p).scatter(-1, order, before >= p)
    return logits.masked_fill(removed, float("-inf")).softmax(-1)
