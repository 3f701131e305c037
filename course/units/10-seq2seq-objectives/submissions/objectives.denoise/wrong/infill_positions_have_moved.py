"""Your `infill` cuts the second span at the wrong place: the first mask has moved everything behind it.

The spans count positions of the text as it was."""


def delete_tokens(tokens, keep):
    return [token for token, kept in zip(tokens, keep) if kept]


def infill(tokens, spans, mask):
    result = list(tokens)
    for start, end in spans:
        result[start:end] = [mask]
    return result


def permute_sentences(sentences, order):
    return [sentences[i] for i in order]


def rotate(tokens, start):
    return [*tokens[start:], *tokens[:start]]
