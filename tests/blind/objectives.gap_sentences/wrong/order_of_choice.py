# the targets come in the order of `chosen`, not of the document
def gap_sentences(sentences, chosen, mask):
    inputs = []
    for i in range(len(sentences)):
        if i in chosen:
            inputs.append(mask)
        else:
            inputs.extend(sentences[i])
    targets = []
    for c in chosen:
        targets.extend(sentences[c])
    return inputs, targets
