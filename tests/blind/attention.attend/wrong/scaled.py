# divides the scores by sqrt(H), as in the transformer
def attend(query, keys, mask):
    B, S, H = keys.shape
    scores = (query[:, None, :] * keys).sum(-1) / math.sqrt(H)
    scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
    context = (weights[:, :, None] * keys).sum(1)
    return context, weights
