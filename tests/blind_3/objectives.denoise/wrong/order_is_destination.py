# permute_sentences sends sentence i to place order[i] (the inverse permutation)
def delete_tokens(tokens, keep):
    out = []
    for i in range(len(tokens)):
        if keep[i]:
            out.append(tokens[i])
    return out


def infill(tokens, spans, mask):
    out = []
    pos = 0
    for s, e in spans:
        out += tokens[pos:s] + [mask]
        pos = e
    return out + tokens[pos:]


def permute_sentences(sentences, order):
    out = [None for _ in sentences]
    for i in range(len(sentences)):
        out[order[i]] = sentences[i]
    return out


def rotate(tokens, start):
    return [*tokens[start:], *tokens[:start]]
