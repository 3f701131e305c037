# each token of a chosen sentence becomes a mask, as in BERT, instead of one mask for the sentence
def gap_sentences(sentences, chosen, mask):
    inputs = sum(([mask] * len(s) if i in chosen else list(s) for i, s in enumerate(sentences)), [])
    targets = sum((list(sentences[i]) for i in sorted(chosen)), [])
    return inputs, targets
