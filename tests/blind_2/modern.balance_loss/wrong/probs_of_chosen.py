# P is the mean of the routing weights (softmax over the k chosen logits), not of the softmax over all experts
def balance_loss(logits, k):
    top, experts = torch.topk(logits, k, dim=1)
    w = top.softmax(dim=1)
    full = torch.zeros_like(logits).scatter(1, experts, w)
    P = full.mean(dim=0)
    with torch.no_grad():
        f = torch.zeros_like(logits).scatter_(1, experts, 1.0).sum(0) / experts.numel()
    return logits.shape[1] * torch.einsum("e,e->", f, P)
