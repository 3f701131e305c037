"""Your `infill` changes the list that it was given.

The text itself is the target; it must still be whole afterwards."""


def delete_tokens(tokens, keep):
    return [token for token, kept in zip(tokens, keep) if kept]


def infill(tokens, spans, mask):
    for start, end in reversed(spans):
        tokens[start:end] = [mask]
    return tokens


def permute_sentences(sentences, order):
    return [sentences[i] for i in order]


def rotate(tokens, start):
    return [*tokens[start:], *tokens[:start]]
