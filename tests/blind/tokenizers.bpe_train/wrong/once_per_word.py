# counts a pair only once per word (a set of pairs), however often the word contains it
from collections import Counter
from itertools import pairwise


def learn_bpe(word_counts, num_merges):
    if not isinstance(word_counts, dict):
        raise TypeError
    if num_merges < 0:
        raise ValueError

    def join(symbols, pair):
        result = []
        for s in symbols:
            if result and not joined and (result[-1], s) == pair:
                result[-1] += s
                joined = True
            else:
                result.append(s)
                joined = False
        return result

    words = [(list(word) + ["</w>"], n) for word, n in word_counts.items()]
    merges = []
    for _ in range(num_merges):
        counter = Counter()
        for symbols, n in words:
            for pair in set(pairwise(symbols)):
                counter[pair] += n
        if not counter:
            return merges
        top = max(counter.values())
        best = min(p for p, c in counter.items() if c == top)
        words = [(join(symbols, best), n) for symbols, n in words]
        merges.append(best)
    return merges
