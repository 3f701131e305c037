# permute_sentences: sentence i goes to place order[i], which is the inverse permutation
def delete_tokens(tokens, keep):
    out = []
    for i in range(len(tokens)):
        if keep[i]:
            out.append(tokens[i])
    return out


def infill(tokens, spans, mask):
    out = []
    pos = 0
    for start, end in spans:
        out.extend(tokens[pos:start])
        out.append(mask)
        pos = end
    out.extend(tokens[pos:])
    return out


def permute_sentences(sentences, order):
    result = [None] * len(sentences)
    for i, place in enumerate(order):
        result[place] = sentences[i]
    return result


def rotate(tokens, start):
    n = len(tokens)
    return [tokens[(start + i) % n] for i in range(n)]
