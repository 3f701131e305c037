def route(logits, k):
    best = logits.topk(k, dim=-1)
    return best.values.softmax(-1), best.indices
