# delete_tokens deletes from the list that was passed in + infill takes the end of a span as its last token
def delete_tokens(tokens, keep):
    i = len(tokens) - 1
    while i >= 0:
        if not keep[i]:
            del tokens[i]
        i -= 1
    return tokens


def infill(tokens, spans, mask):
    result, i = [], 0
    for s, e in spans:
        while i < s:
            result.append(tokens[i])
            i += 1
        result.append(mask)
        i = e + 1
    return result + tokens[i:]


def permute_sentences(sentences, order):
    return [sentences[j] for j in order]


def rotate(tokens, start):
    return tokens[start:] + tokens[0:start]
