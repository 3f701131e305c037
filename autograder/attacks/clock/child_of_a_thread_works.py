"""Lets a thread fork the child that works: it is listed with the thread alone."""

import os
import threading


def scores(x, w):
    end, begin = os.pipe()

    def fork():
        if not os.fork():
            write_all(begin, slow(x, w))
            os._exit(0)

    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    os.close(begin)
    out = read_all(end)
    os.close(end)
    return out
