"""Your `infill` puts one mask for each missing token.

Then the model is told how many words to write. In infilling it has to find that out itself."""


def delete_tokens(tokens, keep):
    return [token for token, kept in zip(tokens, keep) if kept]


def infill(tokens, spans, mask):
    result, past = [], 0
    for start, end in spans:
        result += [*tokens[past:start], *[mask] * max(1, end - start)]
        past = end
    return [*result, *tokens[past:]]


def permute_sentences(sentences, order):
    return [sentences[i] for i in order]


def rotate(tokens, start):
    return [*tokens[start:], *tokens[:start]]
