# the k best experts are returned smallest first
def route(logits, k):
    order = torch.argsort(logits, dim=1)
    experts = order[:, logits.shape[1] - k:]
    weights = torch.softmax(torch.gather(logits, 1, experts), dim=1)
    return weights, experts
