"""Removes the recursion limit and recurses until the C stack ends."""

import sys

sys.setrecursionlimit(1 << 30)


def rnn_cell(*args):
    return (lambda f: f(f))(lambda f: f(f))
