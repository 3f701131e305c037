# drops the word that crosses the threshold (only the likeliest always stays)
def top_p_filter(logits, p):
    sorted_logits, sorted_idx = torch.sort(logits, descending=True, dim=-1)
    cumulative = F.softmax(sorted_logits, dim=-1).cumsum(dim=-1)
    remove = cumulative > p
    remove[..., 0] = False
    remove = torch.zeros_like(remove).scatter(-1, sorted_idx, remove)
    return logits.masked_fill(remove, float("-inf"))
