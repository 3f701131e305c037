"""You keep k+1 words.

Count from one or from zero?"""


def top_k_filter(logits, k):
    smallest_kept = logits.topk(min(k + 1, logits.size(-1)), dim=-1).values[..., -1:]
    return logits.masked_fill(logits < smallest_kept, float("-inf"))
