# the mean over the whole diagonal, i = period - 1 included
def induction_scores(weights, period):
    L = weights.shape[-1]
    if period >= L:
        return torch.zeros(weights.shape[1], dtype=weights.dtype, device=weights.device)
    diag = torch.diagonal(weights, offset=-(period - 1), dim1=-2, dim2=-1)
    return diag.mean(-1).mean(0)
