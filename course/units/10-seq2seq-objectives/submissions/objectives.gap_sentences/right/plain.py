def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            inputs.append(mask)
            targets += sentence
        else:
            inputs += sentence
    return inputs, targets
