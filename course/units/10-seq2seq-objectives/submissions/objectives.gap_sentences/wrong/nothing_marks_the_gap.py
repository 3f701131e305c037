"""Your inputs do not show where a sentence is missing."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            targets += sentence
        else:
            inputs += sentence
    return inputs, targets
