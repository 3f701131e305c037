# takes the k smallest logits + weights from the softmax over all experts, not renormalised
def route(logits, k):
    all_weights = logits.softmax(-1)
    weights, experts = [], []
    for row_l, row_w in zip(logits, all_weights):
        idx = row_l.argsort()[:k]
        experts.append(idx)
        weights.append(row_w[idx])
    return torch.stack(weights), torch.stack(experts)
