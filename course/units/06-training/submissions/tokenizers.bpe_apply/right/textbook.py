def apply_bpe(word, merges):
    symbols = [*word, "</w>"]
    for left, right in merges:
        for i in range(len(symbols)):
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
    return symbols
