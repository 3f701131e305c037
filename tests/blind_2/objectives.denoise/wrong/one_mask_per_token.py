# infill writes one mask for each removed token (and none for an empty span) instead of one per span
def delete_tokens(tokens, keep):
    return [t for t, k in zip(tokens, keep) if k]


def infill(tokens, spans, mask):
    result = tokens[:]
    for a, b in spans:
        for i in range(a, b):
            result[i] = mask
    return result


def permute_sentences(sentences, order):
    return [sentences[i] for i in order]


def rotate(tokens, start):
    return tokens[start:] + tokens[:start]
