# the targets are in the order of `chosen` instead of that of the document
def gap_sentences(sentences, chosen, mask):
    inputs = []
    for i, s in enumerate(sentences):
        inputs += [mask] if i in chosen else s
    targets = sum((sentences[i] for i in chosen), [])
    return inputs, targets
