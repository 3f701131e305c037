# smallest of the k first + weights are sigmoids divided by their sum, not a softmax
def route(logits, k):
    idx = logits.argsort(dim=-1)[:, -k:]
    vals = logits.gather(-1, idx)
    gate = torch.sigmoid(vals)
    return gate / gate.sum(-1, keepdim=True), idx
