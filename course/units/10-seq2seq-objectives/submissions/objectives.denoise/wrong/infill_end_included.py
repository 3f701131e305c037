"""Your `infill` takes away the token at `end` as well.

`[start, end)` is Python's own way to count: `end` is the first that stays."""


def delete_tokens(tokens, keep):
    return [token for token, kept in zip(tokens, keep) if kept]


def infill(tokens, spans, mask):
    result, past = [], 0
    for start, end in spans:
        result += [*tokens[past:start], mask]
        past = end + (end > start)
    return [*result, *tokens[past:]]


def permute_sentences(sentences, order):
    return [sentences[i] for i in order]


def rotate(tokens, start):
    return [*tokens[start:], *tokens[:start]]
