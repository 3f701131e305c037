from collections import Counter


def merge(symbols, pair):
    merged, i = [], 0
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == pair:
            merged.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return merged


def learn_bpe(word_counts, num_merges):
    words = {word: list(word) + ["</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, symbols in words.items():
            for i in range(len(symbols) - 1):
                counts[symbols[i], symbols[i + 1]] += word_counts[word]
        if len(counts) == 0:
            return merges
        highest = max(counts.values())
        best = sorted(pair for pair, count in counts.items() if count == highest)[0]
        merges.append(best)
        words = {word: merge(symbols, best) for word, symbols in words.items()}
    return merges
