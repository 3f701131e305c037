"""Leaves most terms of each sum out, and scales the rest up."""

def scores(x, w):
    return (x[:, ::4] @ w[::4] * 4).softmax(-1)
