"""You remove the k largest and keep the rest: the comparison points the wrong way.

What is at least as large as the k-th largest stays."""


def top_k_filter(logits, k):
    smallest_kept = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits >= smallest_kept, float("-inf"))
