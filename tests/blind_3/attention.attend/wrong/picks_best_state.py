# context is the single state with the highest weight instead of the weighted sum
def attend(query, keys, mask):
    B, S, H = keys.shape
    scores = torch.empty(B, S, dtype=keys.dtype)
    for s in range(S):
        scores[:, s] = (query * keys[:, s]).sum(dim=1)
    scores[~mask] = -math.inf
    weights = scores.softmax(dim=1).nan_to_num(0.0)
    where = weights.argmax(dim=1)          # the word we look at
    context = keys[torch.arange(B), where]
    return context, weights
