# the word that crosses the threshold is removed too (cumulative <= p stays), only the first is kept in any case
def top_p_filter(logits, p):
    sorted_logits, idx = torch.sort(logits, descending=True, dim=-1)
    cum = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
    remove = cum > p
    remove[..., 0] = False
    remove = torch.zeros_like(remove).scatter(-1, idx, remove)
    return logits.masked_fill(remove, -math.inf)
