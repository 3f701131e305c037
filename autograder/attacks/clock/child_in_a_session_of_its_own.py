"""Lets the child that works leave the session and the group of processes."""

import contextlib
import os


def scores(x, w):
    end, begin = os.pipe()
    if not os.fork():
        with contextlib.suppress(OSError):
            os.setsid()
        write_all(begin, slow(x, w))
        os._exit(0)
    os.close(begin)
    out = read_all(end)
    os.close(end)
    return out
