"""You keep one word more than is needed to reach p.

The smallest set that reaches p: once it is reached, stop."""


def top_p_filter(logits, p):
    ordered, order = logits.sort(dim=-1, descending=True)
    probs = ordered.float().softmax(-1)
    beyond = probs.cumsum(-1) - probs >= p
    beyond[..., 1:] = beyond[..., :-1].clone()
    beyond[..., 0] = False
    removed = beyond.scatter(-1, order, beyond)
    return logits.masked_fill(removed, float("-inf"))
