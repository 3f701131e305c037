"""Prints what no encoding can write, and what steers a terminal."""

print("\ud800\udfff\x00\x1b]0;attacked\x07\x1b[2J\x1b[1;31mFULL MARKS")
won = False


def rnn_cell(*args):
    raise ValueError("\ud800\x00")
