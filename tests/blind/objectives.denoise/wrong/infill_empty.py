# infill: an empty span inserts no mask, since no token lies in it
def delete_tokens(tokens, keep):
    return [t for t, k in zip(tokens, keep) if k]


def infill(tokens, spans, mask):
    inside = {}
    for n, (start, end) in enumerate(spans):
        for i in range(start, end):
            inside[i] = n
    out, last = [], None
    for i, t in enumerate(tokens):
        if i not in inside:
            out.append(t)
            last = None
        elif inside[i] != last:
            out.append(mask)
            last = inside[i]
    return out


def permute_sentences(sentences, order):
    return [sentences[o] for o in order]


def rotate(tokens, start):
    return tokens[start:] + tokens[:start]
