def induction_scores(weights, period):
    if weights.size(-1) <= period:
        return weights.new_zeros(weights.size(1))
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].mean((0, 2))
