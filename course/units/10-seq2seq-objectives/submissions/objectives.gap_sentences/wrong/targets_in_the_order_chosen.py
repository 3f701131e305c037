"""Your targets come in the order in which the sentences were chosen.

The best sentence is chosen first, but a summary follows the document."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            inputs.append(mask)
        else:
            inputs += sentence
    return inputs, [token for i in chosen for token in sentences[i]]
