def gap_sentences(sentences, chosen, mask):
    masked = list(sentences)
    for i in chosen:
        masked[i] = [mask]
    targets = []
    for i in sorted(chosen):
        targets = targets + sentences[i]
    return sum(masked, []), targets
