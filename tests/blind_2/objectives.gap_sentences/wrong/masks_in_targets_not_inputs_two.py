# chosen sentences vanish from the inputs without a mask + the targets begin each sentence with a mask, as T5's sentinels do
def gap_sentences(sentences, chosen, mask):
    inputs = []
    targets = []
    for number, sentence in enumerate(sentences):
        if number not in chosen:
            inputs += sentence
        else:
            targets.append(mask)
            targets += sentence
    return inputs, targets
