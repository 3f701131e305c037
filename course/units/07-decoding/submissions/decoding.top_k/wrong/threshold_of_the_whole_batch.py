"""You compare every row with one threshold for the whole batch.

Each row is a distribution of its own and keeps its own k."""


def top_k_filter(logits, k):
    smallest_kept = logits.flatten().topk(k).values[-1]
    return logits.masked_fill(logits < smallest_kept, float("-inf"))
