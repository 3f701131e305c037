"""Your targets repeat the mask before each sentence.

That is how span corruption tells its spans apart. Here all masks are the same, and the target reads like a summary."""


def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            inputs.append(mask)
            targets += [mask, *sentence]
        else:
            inputs += sentence
    return inputs, targets
