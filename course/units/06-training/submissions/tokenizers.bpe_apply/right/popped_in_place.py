def apply_bpe(word, merges):
    symbols = [*word, "</w>"]
    for left, right in merges:
        i = 0
        while i < len(symbols) - 1:
            if symbols[i] == left and symbols[i + 1] == right:
                symbols[i] += symbols.pop(i + 1)
            i += 1
    return symbols
