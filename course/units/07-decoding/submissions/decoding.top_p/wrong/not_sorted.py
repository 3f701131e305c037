"""You add up probabilities in the order of the vocabulary, not from the likeliest down.

The smallest set takes the largest first."""


def top_p_filter(logits, p):
    probs = logits.float().softmax(-1)
    before = probs.cumsum(-1) - probs
    removed = before >= p
    return logits.masked_fill(removed, float("-inf"))
