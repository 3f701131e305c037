# neighbouring chosen sentences become one common mask (like a span)
def gap_sentences(sentences, chosen, mask):
    chosen = sorted(chosen)
    inputs = []
    targets = []
    previous_masked = False
    for i, sentence in enumerate(sentences):
        if i in chosen:
            if not previous_masked:
                inputs.append(mask)
            previous_masked = True
            for t in sentence:
                targets.append(t)
        else:
            previous_masked = False
            for t in sentence:
                inputs.append(t)
    return inputs, targets
