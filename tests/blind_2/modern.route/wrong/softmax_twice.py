# softmax of the chosen probabilities instead of the chosen logits
def route(logits, k):
    p = torch.softmax(logits, dim=1)
    order = torch.sort(p, dim=1, descending=True)
    experts = order.indices[:, :k]
    weights = torch.softmax(order.values[:, :k], dim=1)
    return weights, experts
