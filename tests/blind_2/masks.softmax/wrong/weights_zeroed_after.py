# hidden weights are set to 0 after the softmax: they have taken their share, the rest does not sum to 1
def masked_softmax(scores, mask):
    weights = torch.softmax(scores, dim=-1)
    return weights.masked_fill(~mask, 0.0)
