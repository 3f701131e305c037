# slice assignment from the last span to the first; modulo for the rotation; itertools-like compress by hand
def delete_tokens(tokens, keep):
    return list(map(lambda pair: pair[0], filter(lambda pair: pair[1], zip(tokens, keep))))


def infill(tokens, spans, mask):
    text = tokens[:]
    # back to front, so that the indices of the earlier spans stay right
    for start, end in reversed(list(spans)):
        text[start:end] = [mask]
    return text


def permute_sentences(sentences, order):
    new = [None] * len(order)
    for place, source in enumerate(order):
        new[place] = sentences[source]
    return new


def rotate(tokens, start):
    n = len(tokens)
    return [tokens[(start + k) % n] for k in range(n)]
