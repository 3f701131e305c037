# two neighbouring chosen sentences become one mask together, as in text infilling
def gap_sentences(sentences, chosen, mask):
    chosen = set(chosen)
    inp, tgt = [], []
    previous_masked = False
    for idx in range(len(sentences)):
        if idx in chosen:
            if not previous_masked:
                inp.append(mask)
            tgt += sentences[idx]
            previous_masked = True
        else:
            inp += sentences[idx]
            previous_masked = False
    return inp, tgt
