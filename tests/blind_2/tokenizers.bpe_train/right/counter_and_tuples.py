# style: functional, words as tuples, everything recounted each round with a Counter
from collections import Counter
from collections.abc import Mapping


def _join(symbols, pair):
    result = []
    rest = list(symbols)
    while rest:
        if tuple(rest[:2]) == pair:
            result.append(rest[0] + rest[1])
            rest = rest[2:]
        else:
            result.append(rest[0])
            rest = rest[1:]
    return tuple(result)


def learn_bpe(word_counts, num_merges):
    if not isinstance(word_counts, Mapping):
        raise TypeError("word_counts has to be a dict: word -> how often")
    if not all(isinstance(w, str) for w in word_counts):
        raise TypeError("the keys of word_counts have to be words")
    if num_merges < 0:
        raise ValueError("num_merges is negative")
    corpus = [(tuple(w) + ("</w>",), n) for w, n in word_counts.items()]
    learned = []
    while len(learned) < num_merges:
        pairs = Counter()
        for symbols, n in corpus:
            for two in zip(symbols, symbols[1:]):
                pairs[two] += n
        if len(pairs) == 0:
            break
        winner = sorted(pairs.items(), key=lambda kv: (-kv[1], kv[0]))[0][0]
        learned.append(winner)
        corpus = [(_join(symbols, winner), n) for symbols, n in corpus]
    return learned
