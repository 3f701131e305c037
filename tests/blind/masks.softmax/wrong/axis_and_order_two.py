# softmax over the queries (axis -2) + weights set to 0 only after the softmax
def masked_softmax(scores, mask):
    top = scores.max(dim=-2, keepdim=True).values
    e = (scores - top).exp()
    p = e / e.sum(dim=-2, keepdim=True)
    return p * mask.to(p.dtype)
