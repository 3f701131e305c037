"""Forks a child that works, and reads its answer from a pipe."""

import os


def scores(x, w):
    end, begin = os.pipe()
    pid = os.fork()
    if not pid:
        write_all(begin, slow(x, w))
        os._exit(0)
    os.close(begin)
    out = read_all(end)
    os.close(end)
    os.waitpid(pid, 0)
    return out
