"""You keep the k smallest logits.

Which are the likeliest words?"""


def top_k_filter(logits, k):
    smallest_kept = logits.topk(k, dim=-1, largest=False).values[..., -1:]
    return logits.masked_fill(logits > smallest_kept, float("-inf"))
