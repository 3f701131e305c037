"""You write the masks into the document that you were given.

The same document is used again in the next epoch, with other sentences chosen."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            targets += sentence
            sentence[:] = [mask]
        inputs += sentence
    return inputs, targets
