# greedy longest known piece from the left instead of replaying the merges in order
def apply_bpe(word, merges):
    vocab = {a + b for a, b in merges}
    text = word
    pieces = []
    rest = list(text) + ["</w>"]
    while rest:
        for n in range(len(rest), 0, -1):
            cand = "".join(rest[:n])
            if n == 1 or cand in vocab:
                pieces.append(cand)
                rest = rest[n:]
                break
    return pieces
