# the merges are replayed from the last to the first + the loop stops one pair early, so </w> is never merged
def apply_bpe(word, merges):
    syms = list(word) + ["</w>"]
    for first, second in merges[::-1]:
        i = 0
        while i < len(syms) - 2:
            if syms[i] == first and syms[i + 1] == second:
                syms = syms[:i] + [first + second] + syms[i + 2:]
            i += 1
    return syms
