"""Your targets are the whole document.

That is BART's objective; here only the missing sentences are written, as a summary would be."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            inputs.append(mask)
            targets += sentence
        else:
            inputs += sentence
            targets += sentence
    return inputs, targets
