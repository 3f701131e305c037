def gap_sentences(sentences, chosen, mask):
    inputs, targets = [], []
    for i, sentence in enumerate(sentences):
        if i in chosen:
            inputs.append(mask)
            targets.extend(sentence)
        else:
            inputs.extend(sentence)
    return inputs, targets
