# reads the threshold from the wrong end of the ascending sort + returns probabilities instead of logits
def top_k_filter(logits, k):
    sorted_logits, _ = torch.sort(logits, dim=-1)
    threshold = sorted_logits[..., k - 1].unsqueeze(-1)
    logits = logits.masked_fill(logits < threshold, float("-inf"))
    return F.softmax(logits, dim=-1)
