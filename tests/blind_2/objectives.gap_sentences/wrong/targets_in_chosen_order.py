# the targets follow the order of chosen instead of the order of the document
def gap_sentences(sentences, chosen, mask):
    inputs = []
    for i, s in enumerate(sentences):
        if i in chosen:
            inputs.append(mask)
        else:
            inputs.extend(s)
    targets = []
    for c in chosen:
        targets.extend(sentences[c])
    return inputs, targets
