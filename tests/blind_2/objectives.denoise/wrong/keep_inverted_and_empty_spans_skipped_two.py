# delete_tokens removes the tokens to be kept + infill ignores empty spans
def delete_tokens(tokens, keep):
    return [t for t, k in zip(tokens, keep) if not k]


def infill(tokens, spans, mask):
    starts = {s: e for s, e in spans if e > s}
    out = []
    i = 0
    while i < len(tokens):
        if i in starts:
            out.append(mask)
            i = starts[i]
        else:
            out.append(tokens[i])
            i += 1
    return out


def permute_sentences(sentences, order):
    return [sentences[j] for j in order]


def rotate(tokens, start):
    return list(tokens[start:]) + list(tokens[:start])
