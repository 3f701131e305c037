"""Two chosen sentences that follow each other share one mask; each has its own."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            if number - 1 not in chosen:
                inputs.append(mask)
            targets += sentence
        else:
            inputs += sentence
    return inputs, targets
