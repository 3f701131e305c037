import re
from collections import defaultdict

GAP = "\0"


def learn_bpe(word_counts, num_merges):
    vocab = {GAP.join([*word, "</w>"]): count for word, count in word_counts.items()}
    merges = []
    while len(merges) < num_merges:
        pairs = defaultdict(int)
        for text, count in vocab.items():
            symbols = text.split(GAP)
            for pair in zip(symbols[:-1], symbols[1:]):
                pairs[pair] += count
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        pattern = re.compile(f"(?<![^{GAP}])" + re.escape(GAP.join(best)) + f"(?![^{GAP}])")
        vocab = {pattern.sub(lambda found: "".join(best), text): count for text, count in vocab.items()}
        merges.append(best)
    return merges
