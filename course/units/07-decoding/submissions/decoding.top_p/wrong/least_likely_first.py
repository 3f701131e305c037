"""You start from the least likely word, so the tail stays and the best go.

Sorting has a direction."""


def top_p_filter(logits, p):
    ordered, order = logits.sort(dim=-1)
    probs = ordered.float().softmax(-1)
    before = probs.cumsum(-1) - probs
    removed = (before >= p).scatter(-1, order, before >= p)
    return logits.masked_fill(removed, float("-inf"))
