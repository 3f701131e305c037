"""You count and merge pairs across the boundary between two words.

The merges are learned from a table of word counts, which does not say which words are next to each other in the text.
"""


def learn_bpe(word_counts, num_merges):
    text = [symbol for word, count in word_counts.items() for _ in range(count) for symbol in [*word, "</w>"]]
    merges = []
    while len(merges) < num_merges:
        pairs = {}
        for pair in zip(text, text[1:]):
            pairs[pair] = pairs.get(pair, 0) + 1
        if not pairs:
            break
        left, right = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append((left, right))
        for i in range(len(text)):
            if text[i : i + 2] == [left, right]:
                text[i : i + 2] = [left + right]
    return merges
