# </w> is glued to the last letter instead of being a symbol + returns one string instead of the symbols
def apply_bpe(word, merges):
    symbols = list(word[:-1]) + [word[-1:] + "</w>"]
    for pair in merges:
        new, i = [], 0
        while i < len(symbols):
            if i + 1 < len(symbols) and (symbols[i], symbols[i + 1]) == tuple(pair):
                new.append(symbols[i] + symbols[i + 1])
                i += 2
            else:
                new.append(symbols[i])
                i += 1
        symbols = new
    return " ".join(symbols)
