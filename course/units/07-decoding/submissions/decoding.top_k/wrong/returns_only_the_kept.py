"""You return just the k largest, so nobody can tell which words they were.

Column i of the result has to be word i."""


def top_k_filter(logits, k):
    return logits.topk(k, dim=-1).values
