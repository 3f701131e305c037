# rotate: rolls to the right by start, as numpy.roll does, so the text begins at token -start
import numpy as np


def delete_tokens(tokens, keep):
    return [tokens[i] for i in np.flatnonzero(np.array(keep, dtype=bool))]


def infill(tokens, spans, mask):
    out, shift = list(tokens), 0
    for a, b in spans:
        out = out[:a + shift] + [mask] + out[b + shift:]
        shift += 1 - (b - a)
    return out


def permute_sentences(sentences, order):
    return [sentences[int(i)] for i in order]


def rotate(tokens, start):
    index = np.roll(np.arange(len(tokens)), start)
    return [tokens[i] for i in index]
