"""You stop before the output projection; what a head adds to the residual stream has gone through its columns of `w_o`."""


def head_contributions(weights, v, w_o):
    return weights @ v
