# softmax along the tokens (dim 0) instead of along the k experts
def route(logits, k):
    best = torch.topk(logits, k)
    w = F.softmax(best.values, 0)
    return w, best.indices
