"""You remove the k-th word too: k-1 remain.

Is the k-th largest among the k largest?"""


def top_k_filter(logits, k):
    smallest_kept = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits <= smallest_kept, float("-inf"))
