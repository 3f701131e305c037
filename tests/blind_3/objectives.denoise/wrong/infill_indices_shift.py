# infill replaces from front to back in one list without correcting the indices after the length has changed
def delete_tokens(tokens, keep):
    result = list(tokens)
    for i in reversed(range(len(tokens))):
        if not keep[i]:
            result.pop(i)
    return result


def infill(tokens, spans, mask):
    result = list(tokens)
    for span in spans:
        result = result[: span[0]] + [mask] + result[span[1] :]
    return result


def permute_sentences(sentences, order):
    return [sentences[o] for o in order]


def rotate(tokens, start):
    result = []
    for t in tokens[start:]:
        result.append(t)
    for t in tokens[:start]:
        result.append(t)
    return result
