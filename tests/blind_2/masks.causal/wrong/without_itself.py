# a position may not attend to itself: the diagonal is False
def causal_mask(length):
    i = torch.arange(length)
    return i[None, :] < i[:, None]
