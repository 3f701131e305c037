"""A sentence that stands twice disappears in both places.

`chosen` holds the numbers of sentences, not their words."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if sentence in [sentences[i] for i in chosen]:
            inputs.append(mask)
            targets += sentence
        else:
            inputs += sentence
    return inputs, targets
