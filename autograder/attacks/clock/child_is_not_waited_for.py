"""Forks a child that works, and never asks how it ended."""

import os


def scores(x, w):
    end, begin = os.pipe()
    if not os.fork():
        write_all(begin, slow(x, w))
        os._exit(0)
    os.close(begin)
    out = read_all(end)
    os.close(end)
    return out
