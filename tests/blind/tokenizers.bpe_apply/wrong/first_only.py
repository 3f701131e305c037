# each merge joins only the first occurrence of its pair
def apply_bpe(word, merges):
    tokens = list(word)
    tokens.append("</w>")
    for left, right in merges:
        pairs = list(zip(tokens, tokens[1:]))
        if (left, right) in pairs:
            k = pairs.index((left, right))
            tokens[k:k + 2] = [left + right]
    return tokens
