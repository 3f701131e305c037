# weights are the softmax over all experts, so the k chosen ones do not sum to one
def route(logits, k):
    probs = F.softmax(logits, dim=-1)
    weights, experts = probs.topk(k, dim=-1)
    return weights, experts
