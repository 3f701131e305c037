"""You have queries and keys the wrong way round: in `weights[b, h, i, j]` i looks and j is looked at."""


def induction_scores(weights, period):
    if weights.size(-1) <= period:
        return weights.new_zeros(weights.size(1))
    return weights.diagonal(period - 1, dim1=-2, dim2=-1)[..., 1:].mean((0, 2))
