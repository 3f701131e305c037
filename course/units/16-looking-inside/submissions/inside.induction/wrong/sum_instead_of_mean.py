"""You add up; a mean is asked for, so that scores of texts of different lengths can be compared."""


def induction_scores(weights, period):
    if weights.size(-1) <= period:
        return weights.new_zeros(weights.size(1))
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].sum((0, 2))
