from collections import deque
from itertools import compress


def delete_tokens(tokens, keep):
    return list(compress(tokens, keep))


def infill(tokens, spans, mask):
    result = list(tokens)
    for start, end in reversed(spans):
        result[start:end] = [mask]
    return result


def permute_sentences(sentences, order):
    return list(map(sentences.__getitem__, order))


def rotate(tokens, start):
    wheel = deque(tokens)
    wheel.rotate(-start)
    return list(wheel)
