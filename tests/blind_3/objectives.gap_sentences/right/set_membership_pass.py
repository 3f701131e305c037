# one pass over the document with a boolean flag per sentence
def gap_sentences(sentences, chosen, mask):
    gone = [False] * len(sentences)
    for c in chosen:
        gone[c] = True
    inputs, targets = [], []
    for flag, words in zip(gone, sentences):
        if flag:
            inputs.append(mask)
            targets.extend(words)
        else:
            inputs.extend(words)
    return inputs, targets
