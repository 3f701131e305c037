"""Your `infill` takes a token away for an empty span.

[i, i) holds no token: its mask is put in, nothing goes."""


def delete_tokens(tokens, keep):
    return [token for token, kept in zip(tokens, keep) if kept]


def infill(tokens, spans, mask):
    result, past = [], 0
    for start, end in spans:
        result += [*tokens[past:start], mask]
        past = max(end, start + 1)
    return [*result, *tokens[past:]]


def permute_sentences(sentences, order):
    return [sentences[i] for i in order]


def rotate(tokens, start):
    return [*tokens[start:], *tokens[:start]]
