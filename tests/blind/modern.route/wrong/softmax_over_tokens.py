# the softmax runs over the tokens (axis 0) instead of the k logits of each token
def route(logits, k):
    top = logits.topk(k)
    e = (top.values - top.values.max()).exp()
    return e / e.sum(0), top.indices
