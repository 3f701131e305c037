"""You set what is removed to a large negative number, which is small but still possible.

If every logit is large and negative, the removed ones win. Only one value has the probability zero exactly."""


def top_k_filter(logits, k):
    smallest_kept = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < smallest_kept, -1e4)
