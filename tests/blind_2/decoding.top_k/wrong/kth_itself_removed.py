# strictly larger than the k-th: the k-th word itself is removed, k-1 stay
def top_k_filter(logits, k):
    srt = torch.sort(logits, dim=-1, descending=True).values
    threshold = srt[..., k - 1 : k]
    return torch.where(logits > threshold, logits, float("-inf"))
