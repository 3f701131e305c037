"""Raises the points of its check cell, and makes those of another negative."""


def forge(nb, find):
    find("check-rnn-cell").metadata.nbgrader["points"] = 1e9
    find("check-rnn-cell").metadata.nbgrader["grade"] = False
