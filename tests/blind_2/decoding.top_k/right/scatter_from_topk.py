# style: a row of -inf, into which the topk values are scattered back
def top_k_filter(logits, k):
    keep_values, keep_ids = logits.topk(k, dim=-1)
    nothing = logits.new_full(logits.shape, -math.inf)
    return nothing.scatter(-1, keep_ids, keep_values)
