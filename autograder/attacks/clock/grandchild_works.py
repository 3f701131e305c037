"""Gives the work to a grandchild whose parent has gone, so that it is nobody's child."""

import os


def scores(x, w):
    end, begin = os.pipe()
    pid = os.fork()
    if not pid:
        if not os.fork():
            write_all(begin, slow(x, w))
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(begin)
    out = read_all(end)
    os.close(end)
    return out
