"""You return probabilities; a filter takes logits and returns logits.

Then filters can follow one another, and the softmax comes once, at the end."""


def top_k_filter(logits, k):
    smallest_kept = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < smallest_kept, float("-inf")).softmax(-1)
