"""Deletes the check cell: no test, no failure."""


def forge(nb, find):
    nb.cells.remove(find("check-rnn-cell"))
