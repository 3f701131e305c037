# itertools and deque; infill goes through the spans from the last one to the first in a copy
from collections import deque
from itertools import compress


def delete_tokens(tokens, keep):
    return list(compress(tokens, keep))


def infill(tokens, spans, mask):
    out = list(tokens)
    for start, end in reversed(list(spans)):
        out[start:end] = [mask]
    return out


def permute_sentences(sentences, order):
    return list(map(sentences.__getitem__, order))


def rotate(tokens, start):
    ring = deque(tokens)
    ring.rotate(-start)
    return list(ring)
