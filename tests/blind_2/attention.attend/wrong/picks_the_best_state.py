# the context is the single best state instead of the average of the states under the weights
def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(-1)
    scores = scores.masked_fill(~mask, -1e9)
    weights = F.softmax(scores, -1) * mask
    best = weights.argmax(dim=-1)
    context = keys[torch.arange(keys.shape[0]), best]
    context = context * mask.any(-1, keepdim=True)
    return context, weights
