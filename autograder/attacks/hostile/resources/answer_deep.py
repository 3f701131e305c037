"""Answers with a list in a list, a hundred thousand times."""


def rnn_cell(*args):
    made = []
    for _ in range(100_000):
        made = [made]
    return made
