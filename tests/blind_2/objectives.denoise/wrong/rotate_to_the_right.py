# rotate moves the tokens to the right by start instead of beginning at start
def delete_tokens(tokens, keep):
    return [tok for tok, flag in zip(tokens, keep) if flag]


def infill(tokens, spans, mask):
    pieces = []
    pos = 0
    for (start, end) in spans:
        pieces.extend(tokens[pos:start])
        pieces.append(mask)
        pos = end
    pieces.extend(tokens[pos:])
    return pieces


def permute_sentences(sentences, order):
    return [sentences[order[i]] for i in range(len(order))]


def rotate(tokens, start):
    if not tokens:
        return []
    k = start % len(tokens)
    return tokens[len(tokens) - k:] + tokens[:len(tokens) - k]
