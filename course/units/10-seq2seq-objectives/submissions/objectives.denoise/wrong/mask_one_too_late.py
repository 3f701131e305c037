"""Your `infill` puts the mask of an empty span [i, i) behind token i; it stands before it."""


def delete_tokens(tokens, keep):
    return [token for token, kept in zip(tokens, keep) if kept]


def infill(tokens, spans, mask):
    result, past = [], 0
    for start, end in spans:
        if start == end:
            start = end = start + 1
        result += [*tokens[past:start], mask]
        past = end
    return [*result, *tokens[past:]]


def permute_sentences(sentences, order):
    return [sentences[i] for i in order]


def rotate(tokens, start):
    return [*tokens[start:], *tokens[:start]]
