import numpy as np


def delete_tokens(tokens, keep):
    return [tokens[i] for i in np.flatnonzero(np.array(keep, dtype=bool))]


def infill(tokens, spans, mask):
    starts, ends = [a for a, _ in spans], [b for _, b in spans]
    pieces = [list(tokens[a:b]) for a, b in zip([0] + ends, starts + [len(tokens)])]
    return sum(([mask] + piece for piece in pieces[1:]), pieces[0])


def permute_sentences(sentences, order):
    where = sorted(range(len(order)), key=lambda place: order[place])
    result = list(sentences)
    for sentence, place in zip(sentences, where):
        result[place] = sentence
    return result


def rotate(tokens, start):
    double = tokens * 2
    return double[start : start + len(tokens)]
