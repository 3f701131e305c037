# softmax over the first axis, so the weights of one word sum to 1 over the sentences
def attend(query, keys, mask):
    dots = torch.bmm(keys, query[:, :, None])[:, :, 0]
    dots[~mask] = float('-inf')
    dots = dots - dots.max()
    num = torch.exp(dots)
    den = num.sum(0)
    weights = num / den.clamp(min=1e-30)
    context = torch.bmm(weights[:, None, :], keys)[:, 0, :]
    return context, weights
