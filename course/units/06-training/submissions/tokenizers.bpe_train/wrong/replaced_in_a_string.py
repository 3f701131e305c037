"""You merge by replacing text in a string with spaces between the symbols, so every other merge in a run of equal symbols is missed.

Neighbouring symbols share one space: after the first replacement in ` a a a a ` the space that the next one needs is used up.
"""


def learn_bpe(word_counts, num_merges):
    words = {" " + " ".join([*word, "</w>"]) + " ": count for word, count in word_counts.items()}
    merges = []
    while len(merges) < num_merges:
        pairs = {}
        for text, count in words.items():
            symbols = text.split()
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] = pairs.get(pair, 0) + count
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = {text.replace(" " + " ".join(best) + " ", " " + "".join(best) + " "): n for text, n in words.items()}
    return merges
