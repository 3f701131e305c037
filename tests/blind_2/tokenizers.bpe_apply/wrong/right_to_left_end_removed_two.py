# merges from right to left (`aaa` becomes `a aa`) + `</w>` is taken off the result
def apply_bpe(word, merges):
    symbols = list(word) + ["</w>"]
    for pair in merges:
        i = len(symbols) - 2
        while i >= 0:
            if i + 1 < len(symbols) and symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
                symbols = symbols[:i] + ["".join(pair)] + symbols[i + 2:]
                i -= 1
            i -= 1
    cleaned = [s.replace("</w>", "") for s in symbols]
    return [s for s in cleaned if s != ""]
