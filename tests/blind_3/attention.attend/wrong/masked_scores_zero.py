# masked positions get the score 0 instead of -inf, so they still take part in the softmax
def attend(query, keys, mask):
    scores = torch.bmm(keys, query.unsqueeze(2)).squeeze(2)
    # hide the padding
    scores = scores * mask
    weights = torch.softmax(scores, dim=-1)
    context = torch.bmm(weights.unsqueeze(1), keys).squeeze(1)
    return context, weights
