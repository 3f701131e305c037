# the word that crosses the threshold is removed as well (only the very first always stays)
def top_p_filter(logits, p):
    sorted_logits, sorted_indices = torch.sort(logits, descending=True, dim=-1)
    cumulative = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
    remove = cumulative > p
    remove[..., 0] = False
    remove = torch.zeros_like(remove).scatter(-1, sorted_indices, remove)
    return logits.masked_fill(remove, float("-inf"))
