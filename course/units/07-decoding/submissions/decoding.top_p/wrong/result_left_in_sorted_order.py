"""You return the logits sorted; nobody can tell which words they were.

Column i of the result has to be word i."""


def top_p_filter(logits, p):
    ordered, order = logits.sort(dim=-1, descending=True)
    probs = ordered.float().softmax(-1)
    before = probs.cumsum(-1) - probs
    return ordered.masked_fill(before >= p, float("-inf"))
