"""Your `delete_tokens` deletes a word wherever it stands, when one of its places is to go.

The flags belong to places, not to words."""


def delete_tokens(tokens, keep):
    return [t for t in tokens if t not in [token for token, kept in zip(tokens, keep) if not kept]]


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
