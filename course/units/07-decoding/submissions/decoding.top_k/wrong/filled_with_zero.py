"""You set what is removed to 0; as a logit, 0 is quite likely.

Which logit has the probability zero?"""


def top_k_filter(logits, k):
    smallest_kept = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < smallest_kept, 0.0)
