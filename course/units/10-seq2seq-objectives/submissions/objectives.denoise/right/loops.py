def delete_tokens(tokens, keep):
    result = []
    for place in range(len(tokens)):
        if keep[place]:
            result.append(tokens[place])
    return result


def infill(tokens, spans, mask):
    ends = dict(spans)
    result, place = [], 0
    while place <= len(tokens):
        if place in ends:
            result.append(mask)
            if ends[place] > place:
                place = ends[place]
                continue
        if place < len(tokens):
            result.append(tokens[place])
        place += 1
    return result


def permute_sentences(sentences, order):
    result = [None] * len(order)
    for place, number in enumerate(order):
        result[place] = sentences[number]
    return result


def rotate(tokens, start):
    return [tokens[(start + step) % len(tokens)] for step in range(len(tokens))]
