# the merges are applied in reversed order, the last learned first
def apply_bpe(word, merges):
    syms = [ch for ch in word] + ["</w>"]
    for a, b in reversed(list(merges)):
        n = 0
        while n + 1 < len(syms):
            if (syms[n], syms[n + 1]) == (a, b):
                syms[n:n + 2] = [a + b]
            n += 1
    return syms
