"""You score attention to the previous token. Such heads exist, and induction is built on them, but they are not it."""


def induction_scores(weights, period):
    length = weights.size(-1)
    if length <= period:
        return weights.new_zeros(weights.size(1))
    return weights.diagonal(-1, dim1=-2, dim2=-1)[..., period - 1 :].mean((0, 2))
