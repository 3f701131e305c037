"""Answers with a text of a gigabyte."""


def rnn_cell(*args):
    return "x" * (1 << 28)
