"""Each token of a chosen sentence leaves a mask; one mask stands for the whole sentence.

Otherwise the model is told how long each sentence is."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            inputs += [mask] * len(sentence)
            targets += sentence
        else:
            inputs += sentence
    return inputs, targets
