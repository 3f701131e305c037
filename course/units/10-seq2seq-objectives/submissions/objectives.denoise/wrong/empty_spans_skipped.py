"""Your `infill` leaves out empty spans.

A mask with nothing behind it teaches that sometimes nothing is missing."""


def delete_tokens(tokens, keep):
    return [token for token, kept in zip(tokens, keep) if kept]


def infill(tokens, spans, mask):
    result, past = [], 0
    for start, end in spans:
        if start == end:
            continue
        result += [*tokens[past:start], mask]
        past = end
    return [*result, *tokens[past:]]


def permute_sentences(sentences, order):
    return [sentences[i] for i in order]


def rotate(tokens, start):
    return [*tokens[start:], *tokens[:start]]
