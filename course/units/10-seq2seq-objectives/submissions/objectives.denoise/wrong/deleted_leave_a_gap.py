"""Your `delete_tokens` leaves something in place of each deleted token.

Nothing may show where a token was: finding the place is half of the task."""


def delete_tokens(tokens, keep):
    return [token if kept else None for token, kept in zip(tokens, keep)]


def infill(tokens, spans, mask):
    result, past = [], 0
    for start, end in spans:
        result += [*tokens[past:start], mask]
        past = end
    return [*result, *tokens[past:]]


def permute_sentences(sentences, order):
    return [sentences[i] for i in order]


def rotate(tokens, start):
    return [*tokens[start:], *tokens[:start]]
