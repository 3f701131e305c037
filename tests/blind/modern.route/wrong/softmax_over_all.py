# softmax over all experts, then the top k without renormalising
def route(logits, k):
    probs = F.softmax(logits, dim=-1)
    weights, experts = torch.topk(probs, k, dim=-1)
    return weights, experts
