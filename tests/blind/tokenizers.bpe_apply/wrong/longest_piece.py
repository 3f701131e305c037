# cuts off the longest known piece from the left instead of replaying the merges
def apply_bpe(word, merges):
    vocab = {a + b for a, b in merges}
    symbols = list(word) + ["</w>"]
    out = []
    i = 0
    while i < len(symbols):
        n = len(symbols)
        while n > i + 1 and "".join(symbols[i:n]) not in vocab:
            n -= 1
        out.append("".join(symbols[i:n]))
        i = n
    return out
