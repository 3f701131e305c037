# -1e9 instead of -inf: a row with nothing to see gets equal weights instead of zeros
def masked_softmax(scores, mask):
    very_small = -1e9
    masked = torch.where(mask, scores, torch.full_like(scores, very_small))
    e = torch.exp(masked - masked.max(-1, keepdim=True).values)
    return e / e.sum(-1, keepdim=True)
