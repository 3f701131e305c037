"""Raises an exception that cannot be printed."""


class Hostile(Exception):
    def __str__(self):
        raise Hostile

    __repr__ = __str__


def rnn_cell(*args):
    raise Hostile
