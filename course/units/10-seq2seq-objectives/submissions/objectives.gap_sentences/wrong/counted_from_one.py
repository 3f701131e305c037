"""You count the sentences from one; Python, and `chosen`, count from zero."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number + 1 in chosen:
            inputs.append(mask)
            targets += sentence
        else:
            inputs += sentence
    return inputs, targets
