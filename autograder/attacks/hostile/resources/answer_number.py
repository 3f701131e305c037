"""Answers with an integer of a million digits."""


def rnn_cell(*args):
    return 1 << 4_000_000
