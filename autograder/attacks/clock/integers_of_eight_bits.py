"""Rounds both factors to eight bits."""

import torch


def scores(x, w):
    def rounded(t):
        scale = t.abs().amax() / 127
        return (t / scale).round() * scale

    return (rounded(x) @ rounded(w)).softmax(-1)
