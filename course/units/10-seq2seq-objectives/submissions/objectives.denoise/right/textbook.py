def delete_tokens(tokens, keep):
    return [token for token, kept in zip(tokens, keep) if kept]


def infill(tokens, spans, mask):
    result, position = [], 0
    for start, end in spans:
        result.extend(tokens[position:start])
        result.append(mask)
        position = end
    return result + tokens[position:]


def permute_sentences(sentences, order):
    return [sentences[number] for number in order]


def rotate(tokens, start):
    return tokens[start:] + tokens[:start]
