"""Matches an expression that takes exponential time."""

import re


def rnn_cell(*args):
    return re.match(r"(a+)+$", "a" * 64 + "b")
