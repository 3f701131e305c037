# keeps only what is larger than the k-th largest, so k-1 words
def top_k_filter(logits, k):
    kth = torch.topk(logits, k, dim=-1).values[..., -1:]
    keep = logits > kth
    return torch.where(keep, logits, torch.tensor(float("-inf"), dtype=logits.dtype, device=logits.device))
