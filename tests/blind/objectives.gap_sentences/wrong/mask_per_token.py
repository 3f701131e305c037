# every token of a chosen sentence becomes a mask, not the sentence
def gap_sentences(sentences, chosen, mask):
    order = sorted(chosen)
    copy = [list(s) for s in sentences]
    for i in order:
        copy[i] = [mask] * len(copy[i])
    return sum(copy, []), sum((list(sentences[i]) for i in order), [])
