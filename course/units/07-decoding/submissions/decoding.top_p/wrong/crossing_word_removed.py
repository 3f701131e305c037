"""You remove the word that takes the sum over p, so what you keep falls short of p.

The set has to reach p: the word with which it does belongs to it."""


def top_p_filter(logits, p):
    ordered, order = logits.sort(dim=-1, descending=True)
    probs = ordered.float().softmax(-1)
    beyond = probs.cumsum(-1) > p
    beyond[..., 0] = False
    removed = beyond.scatter(-1, order, beyond)
    return logits.masked_fill(removed, float("-inf"))
