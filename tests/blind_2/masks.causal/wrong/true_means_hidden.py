# True marks what is hidden (torch's convention) instead of what may be attended to
def causal_mask(length):
    mask = torch.full((length, length), False)
    for row in range(length):
        mask[row, row + 1:] = True
    return mask
