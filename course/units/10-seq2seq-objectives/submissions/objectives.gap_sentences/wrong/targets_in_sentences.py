"""Your targets are a list of sentences; one flat list of tokens is wanted."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            inputs.append(mask)
            targets.append(sentence)
        else:
            inputs += sentence
    return inputs, targets
