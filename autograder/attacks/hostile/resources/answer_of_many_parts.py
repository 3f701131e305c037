"""Answers with a million small things."""


def rnn_cell(*args):
    return [[n] for n in range(1_000_000)]
