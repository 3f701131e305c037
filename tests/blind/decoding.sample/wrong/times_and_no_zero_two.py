# multiplies the logits by the temperature + has no case for temperature 0 (all words become equally likely)
def sample_token(logits, u, temperature=1.0):
    p = torch.softmax(logits * temperature, dim=-1)
    c = torch.cumsum(p, dim=-1)
    hit = c > u[:, None]
    idx = torch.arange(logits.size(-1)).expand_as(logits)
    idx = idx.masked_fill(~hit, logits.size(-1) - 1)
    return idx.min(dim=-1).values
