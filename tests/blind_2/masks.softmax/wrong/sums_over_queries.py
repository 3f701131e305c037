# the denominator sums over the queries (axis -2) instead of the keys
def masked_softmax(scores, mask):
    m = mask.to(scores.dtype)
    num = torch.exp(scores - scores.max()) * m
    den = num.sum(dim=-2, keepdim=True)
    return num / den.clamp(min=1e-12)
