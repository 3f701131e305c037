"""After a merge you return to earlier ones and apply them again.

GPT-2's code does so. Here each merge has its turn once, as it had when it was learned."""


def apply_bpe(word, merges):
    symbols = [*word, "</w>"]
    while found := [pair for pair in merges if pair in zip(symbols, symbols[1:])]:
        left, right = found[0]
        for i in range(len(symbols)):
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
    return symbols
