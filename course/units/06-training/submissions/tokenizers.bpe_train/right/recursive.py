def join(symbols, left, right):
    if len(symbols) < 2:
        return symbols
    first, second, *rest = symbols
    if (first, second) == (left, right):
        return [left + right] + join(rest, left, right)
    return [first] + join([second] + rest, left, right)


def learn_from(words, num_merges):
    pairs = {}
    for symbols, count in words:
        for left, right in zip(symbols, symbols[1:]):
            pairs[(left, right)] = pairs.get((left, right), 0) + count
    if num_merges == 0 or not pairs:
        return []
    best = min(pairs, key=lambda pair: (-pairs[pair], pair[0], pair[1]))
    return [best] + learn_from([(join(symbols, *best), count) for symbols, count in words], num_merges - 1)


def learn_bpe(word_counts, num_merges):
    return learn_from([([*word, "</w>"], count) for word, count in word_counts.items()], num_merges)
