# chosen sentences are removed without leaving a mask + the targets are the whole text (as BART)
def gap_sentences(sentences, chosen, mask):
    inputs = []
    targets = []
    for i in range(len(sentences)):
        targets.extend(sentences[i])
        if i not in chosen:
            inputs.extend(sentences[i])
    return inputs, targets
