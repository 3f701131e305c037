"""Reads and writes memory all the time, so that the reference is slow as well."""

import threading

import torch


def thrash():
    big = torch.ones(8 << 20)
    while True:
        big.add_(1.0)


threading.Thread(target=thrash, daemon=True).start()
scores = slow
