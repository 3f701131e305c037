# style: torch.diagonal with a negative offset, the first entry of it dropped
def induction_scores(weights, period):
    B, H, L, _ = weights.shape
    if period >= L:
        return weights.new_zeros(H)
    line = weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)  # starts with query period - 1
    line = line[..., 1:]
    return line.sum(dim=(0, 2)) / (B * line.shape[-1])
