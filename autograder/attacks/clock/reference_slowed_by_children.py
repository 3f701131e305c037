"""Lets children keep the other cores busy while the reference runs."""

import os

for _ in range(2):
    if not os.fork():
        while True:
            pass
scores = slow
