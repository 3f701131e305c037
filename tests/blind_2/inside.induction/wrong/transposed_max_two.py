# queries and keys exchanged + the largest value instead of the mean over the positions
def induction_scores(weights, period):
    n = weights.shape[-1]
    if period >= n:
        return weights.new_zeros(weights.shape[1])
    rows = torch.arange(1, n - period + 1)
    cols = rows + period - 1
    return weights[:, :, rows, cols].max(dim=-1).values.mean(dim=0)
