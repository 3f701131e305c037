# library style: itertools.compress, a deque for the rotation, infill from the back with slice assignment
from collections import deque
from itertools import compress


def delete_tokens(tokens, keep):
    return list(compress(tokens, keep))


def infill(tokens, spans, mask):
    out = list(tokens)
    # from behind, so that earlier indices stay valid
    for start, end in reversed(list(spans)):
        out[start:end] = [mask]
    return out


def permute_sentences(sentences, order):
    return list(map(sentences.__getitem__, order))


def rotate(tokens, start):
    d = deque(tokens)
    d.rotate(-start)
    return list(d)
