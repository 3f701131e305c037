"""Raises an exception with a hundred thousand causes."""


def rnn_cell(*args):
    error = ValueError("first")
    for _ in range(100_000):
        new = ValueError("next")
        new.__cause__, error = error, new
    raise error
