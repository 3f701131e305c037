# sets the removed logits to 0 instead of -inf
def top_k_filter(logits, k):
    values, indices = logits.topk(k, dim=-1)
    result = torch.zeros_like(logits)
    return result.scatter(-1, indices, values)
