# masked scores become 0 instead of -inf + the context is the mean over S of weight times state (divided by S once more)
def attend(query, keys, mask):
    scores = (query[:, None, :] @ keys.transpose(1, 2)).squeeze(1)
    scores = scores * mask.float()
    weights = torch.softmax(scores, dim=1)
    context = (keys * weights[:, :, None]).mean(1)
    return context, weights
