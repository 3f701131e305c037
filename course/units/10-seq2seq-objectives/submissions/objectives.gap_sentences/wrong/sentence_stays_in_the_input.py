"""The sentences that the model is to write still stand in your inputs.

It would learn to copy, not to find out what the text is about."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            inputs += [mask, *sentence]
            targets += sentence
        else:
            inputs += sentence
    return inputs, targets
