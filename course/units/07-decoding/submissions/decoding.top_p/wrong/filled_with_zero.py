"""You set what is removed to 0; as a logit, 0 is quite likely.

Which logit has the probability zero?"""


def top_p_filter(logits, p):
    ordered, order = logits.sort(dim=-1, descending=True)
    probs = ordered.float().softmax(-1)
    before = probs.cumsum(-1) - probs
    removed = (before >= p).scatter(-1, order, before >= p)
    return logits.masked_fill(removed, 0.0)
