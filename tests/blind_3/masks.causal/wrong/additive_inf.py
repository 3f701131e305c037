# an additive float mask (0 and -inf) instead of a boolean one
def causal_mask(length):
    mask = torch.full((length, length), float("-inf"))
    for i in range(length):
        for j in range(length):
            if j <= i:
                mask[i][j] = 0.0
    return mask
