# the rank of every word by two argsorts; exactly k have a rank below k
def top_k_filter(logits, k):
    order = torch.argsort(logits, dim=-1, descending=True, stable=True)
    rank = torch.argsort(order, dim=-1)
    return logits.masked_fill(rank >= k, -math.inf)
