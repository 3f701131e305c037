"""Sleeps after the work, so that it looks like waiting."""

import time


def scores(x, w):
    out = slow(x, w)
    time.sleep(0.05)
    return out
