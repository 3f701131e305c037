# a tie goes to the LAST pair of the alphabet + </w> is glued to the last character instead of being a symbol of its own
from collections import Counter


def learn_bpe(word_counts, num_merges):
    if not isinstance(word_counts, dict):
        raise TypeError
    if num_merges < 0:
        raise ValueError
    data = {w: list(w[:-1]) + [w[-1] + "</w>"] for w in word_counts if w}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for w, s in data.items():
            for p in zip(s, s[1:]):
                counts[p] += word_counts[w]
        if not counts:
            break
        best = max(counts, key=lambda p: (counts[p], p))
        merges.append(best)
        for w, s in data.items():
            new = []
            for sym in s:
                if new and (new[-1], sym) == best and not new[-1] == "".join(best):
                    new[-1] += sym
                else:
                    new.append(sym)
            data[w] = new
    return merges
