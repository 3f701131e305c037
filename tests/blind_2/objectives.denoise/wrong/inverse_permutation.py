# permute_sentences sends sentence i to place order[i]: the inverse permutation
def delete_tokens(tokens, keep):
    out = []
    for i in range(len(tokens)):
        if keep[i]:
            out.append(tokens[i])
    return out


def infill(tokens, spans, mask):
    out, last = [], 0
    for s, e in spans:
        out += tokens[last:s]
        out.append(mask)
        last = e
    return out + tokens[last:]


def permute_sentences(sentences, order):
    new = [None] * len(sentences)
    for i, o in enumerate(order):
        new[o] = sentences[i]
    return new


def rotate(tokens, start):
    n = len(tokens)
    return [tokens[(start + i) % n] for i in range(n)]
