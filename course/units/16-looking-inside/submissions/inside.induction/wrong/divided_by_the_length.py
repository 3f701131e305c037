"""You divide by the whole length; only the queries from `period` on count, so divide by how many those are."""


def induction_scores(weights, period):
    if weights.size(-1) <= period:
        return weights.new_zeros(weights.size(1))
    ahead = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
    return ahead.sum(2).mean(0) / weights.size(-1)
