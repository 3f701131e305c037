# infill writes one mask for each token of a span (as BERT), none for an empty span
def delete_tokens(tokens, keep):
    return [t for t, k in zip(tokens, keep) if k]


def infill(tokens, spans, mask):
    out = list(tokens)
    for start, end in spans:
        for i in range(start, end):
            out[i] = mask
    return out


def permute_sentences(sentences, order):
    return [sentences[i] for i in order]


def rotate(tokens, start):
    return tokens[start:] + tokens[:start]
