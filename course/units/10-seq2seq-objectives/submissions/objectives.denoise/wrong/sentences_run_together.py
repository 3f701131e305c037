"""Your `permute_sentences` gives one flat list of tokens; a list of sentences is wanted."""


def delete_tokens(tokens, keep):
    return [token for token, kept in zip(tokens, keep) if kept]


def infill(tokens, spans, mask):
    result, past = [], 0
    for start, end in spans:
        result += [*tokens[past:start], mask]
        past = end
    return [*result, *tokens[past:]]


def permute_sentences(sentences, order):
    return [token for i in order for token in sentences[i]]


def rotate(tokens, start):
    return [*tokens[start:], *tokens[:start]]
