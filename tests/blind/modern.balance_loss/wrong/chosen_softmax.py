# takes the softmax over the k chosen experts only
def balance_loss(logits, k):
    N, X = logits.shape
    values, indices = torch.topk(logits, k, dim=-1)
    gates = torch.zeros_like(logits).scatter(1, indices, values.softmax(dim=-1))
    chosen = torch.zeros_like(logits).scatter(1, indices, 1.0)
    f = chosen.sum(0) / (N * k)
    return X * torch.sum(f * gates.mean(0))
