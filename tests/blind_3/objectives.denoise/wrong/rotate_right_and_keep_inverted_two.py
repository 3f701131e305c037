# rotate moves `start` tokens from the end to the front + delete_tokens deletes the tokens whose keep is True
from collections import deque


def delete_tokens(tokens, keep):
    return [tok for tok, flag in zip(tokens, keep) if not flag]


def infill(tokens, spans, mask):
    cursor, noisy = 0, []
    for a, b in spans:
        noisy.extend(tokens[cursor:a])
        noisy.append(mask)
        cursor = b
    noisy.extend(tokens[cursor:])
    return noisy


def permute_sentences(sentences, order):
    return list(map(sentences.__getitem__, order))


def rotate(tokens, start):
    d = deque(tokens)
    d.rotate(start)
    return list(d)
