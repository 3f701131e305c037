"""Gives the work to a thread and waits for it."""

from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(2)


def scores(x, w):
    return pool.submit(slow, x, w).result()
