# a small class; the best pair by sorting on (-count, pair); symbols in tuples
from collections import Counter
from collections.abc import Mapping


class _Bpe:
    def __init__(self, word_counts):
        self.words = [[(*word, "</w>"), count] for word, count in word_counts.items()]

    def best(self):
        pairs = Counter()
        for symbols, count in self.words:
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += count
        if not pairs:
            return None
        return sorted(pairs, key=lambda pair: (-pairs[pair], pair))[0]

    def apply(self, pair):
        for entry in self.words:
            old, new = list(entry[0]), []
            while old:
                if tuple(old[:2]) == pair:
                    new.append(old.pop(0) + old.pop(0))
                else:
                    new.append(old.pop(0))
            entry[0] = tuple(new)


def learn_bpe(word_counts, num_merges):
    if not isinstance(word_counts, Mapping):
        raise TypeError(f"a dict of word counts is needed, not {type(word_counts).__name__}")
    if not all(isinstance(word, str) for word in word_counts):
        raise TypeError("the keys have to be words")
    if num_merges < 0:
        raise ValueError("the number of merges must not be negative")
    bpe, merges = _Bpe(word_counts), []
    for _ in range(num_merges):
        pair = bpe.best()
        if pair is None:
            break
        bpe.apply(pair)
        merges.append(pair)
    return merges
