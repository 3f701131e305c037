# no </w> at the end of the words
from collections import defaultdict


def learn_bpe(word_counts, num_merges):
    if not isinstance(word_counts, dict):
        raise TypeError(type(word_counts))
    if num_merges < 0:
        raise ValueError(num_merges)
    splits = {word: [c for c in word] for word in word_counts.keys()}

    def pair_freqs():
        freqs = defaultdict(int)
        for word, freq in word_counts.items():
            split = splits[word]
            for i in range(len(split) - 1):
                freqs[(split[i], split[i + 1])] += freq
        return freqs

    merges = []
    while len(merges) < num_merges:
        freqs = pair_freqs()
        if len(freqs) == 0:
            break
        best_pair, best = None, -1
        for pair in sorted(freqs):
            if freqs[pair] > best:
                best_pair, best = pair, freqs[pair]
        merges.append(best_pair)
        for word in splits:
            split = splits[word]
            i = 0
            while i < len(split) - 1:
                if split[i] == best_pair[0] and split[i + 1] == best_pair[1]:
                    split = split[:i] + ["".join(best_pair)] + split[i + 2:]
                else:
                    i += 1
            splits[word] = split
    return merges
