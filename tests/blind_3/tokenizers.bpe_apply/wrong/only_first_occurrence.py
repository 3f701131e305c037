# each merge is applied only at its first occurrence in the word
def apply_bpe(word, merges):
    symbols = list(word) + ["</w>"]
    for a, b in merges:
        for i in range(len(symbols) - 1):
            if symbols[i] == a and symbols[i + 1] == b:
                symbols[i : i + 2] = [a + b]
                break
    return symbols
