# exp without subtracting the maximum first: large scores overflow
def masked_softmax(scores, mask):
    e = torch.exp(scores.masked_fill(~mask, -torch.inf))
    total = e.sum(-1, keepdim=True)
    # rows that are all masked: do not divide by 0
    total = torch.where(total == 0, torch.ones_like(total), total)
    return e / total
