"""You sort the list of chosen sentences that you were given.

Its order (the best first) belongs to the caller; `sorted` makes a new list."""


def gap_sentences(sentences, chosen, mask):
    chosen.sort()
    inputs = [t for i, sentence in enumerate(sentences) for t in ([mask] if i in chosen else sentence)]
    return inputs, [token for i in chosen for token in sentences[i]]
