"""You leave out the last query; i runs up to L-1."""


def induction_scores(weights, period):
    if weights.size(-1) <= period:
        return weights.new_zeros(weights.size(1))
    ahead = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
    return (ahead[..., :-1] if ahead.size(-1) > 1 else ahead).mean((0, 2))
