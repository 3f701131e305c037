# the scores are divided by sqrt(H) although this attention is unscaled
def attend(query, keys, mask):
    scores = torch.einsum("bh,bsh->bs", query, keys) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    weights = torch.nan_to_num(weights)
    context = torch.einsum("bs,bsh->bh", weights, keys)
    return context, weights
