# a mask for every token of a chosen sentence instead of one for the sentence
def gap_sentences(sentences, chosen, mask):
    chosen = set(chosen)
    inputs = [mask if i in chosen else t for i, s in enumerate(sentences) for t in s]
    targets = [t for i, s in enumerate(sentences) if i in chosen for t in s]
    return inputs, targets
