"""Answers with a list that holds itself."""


def rnn_cell(*args):
    made = []
    made.append(made)
    return made
