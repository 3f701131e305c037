# writes the mask before each sentence of the targets as T5 does + leaves the chosen sentences out of the inputs without a mask
def gap_sentences(sentences, chosen, mask):
    inputs = []
    targets = []
    for index, sentence in enumerate(sentences):
        if index not in chosen:
            inputs = inputs + list(sentence)
            continue
        targets = targets + [mask] + list(sentence)
    return inputs, targets
