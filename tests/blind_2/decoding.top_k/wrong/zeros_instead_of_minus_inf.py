# removed logits are set to 0 instead of -inf
def top_k_filter(logits, k):
    idx = torch.topk(logits, k, dim=-1).indices
    mask = torch.zeros_like(logits)
    mask.scatter_(-1, idx, 1.0)
    return logits * mask
