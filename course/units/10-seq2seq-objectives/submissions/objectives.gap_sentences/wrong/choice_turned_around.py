"""You hide the sentences that were not chosen."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number not in chosen:
            inputs.append(mask)
            targets += sentence
        else:
            inputs += sentence
    return inputs, targets
