"""Your `delete_tokens` uses the flags in `keep` as positions.

Python takes True for 1 and False for 0, so nothing crashes."""


def delete_tokens(tokens, keep):
    return [tokens[i] for i in keep]


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
