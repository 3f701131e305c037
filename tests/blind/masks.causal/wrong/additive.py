# an additive float mask (0 and -inf) instead of a boolean one
def causal_mask(length):
    mask = torch.full((length, length), float("-inf"))
    mask = torch.triu(mask, diagonal=1)
    return mask
